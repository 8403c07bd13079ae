import { existsSync, writeFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { Command, InvalidArgumentError } from '@commander-js/extra-typings';
import { type CheckRequest, checkTarget } from '../../checks/check-target.ts';
import { accessOf } from '../../checks/profile/environment.ts';
import {
  KEY_ROLES,
  PLAN_NAMES,
  type PlanLimits,
  PROFILE_DEFAULTS,
  type ProfileKey,
} from '../../checks/profile/target-profile.ts';
import { UsageError } from '../../checks/profile/usage-error.ts';
import { profileYaml } from '../../checks/profile/write-profile.ts';
import { isAnswered } from '../../checks/wire/exchange.ts';
import { described } from '../../checks/wire/pets.ts';
import { duration } from '../../reports/facts.ts';
import { shownLine } from '../../reports/visible-text.ts';
import { ADDED_ANIMALS } from '../../spec/operations.ts';
import { PERMISSIONS, type Permission } from '../../spec/permissions.ts';
import { commandOf } from '../check/check-options.ts';
import { planCheck } from '../check/check-plan.ts';
import { NothingToJudge } from '../shared/exit-codes.ts';
import { HEADER } from '../shared/option-values.ts';
import { addressOf, environment, USUAL_VARIABLES, usualKeys } from '../shared/profile-file.ts';

const EXAMPLES = `
The target is asked for a list with each key that is set. Without
--key the keys come from these variables, as far as they are set:
${USUAL_VARIABLES}.

Examples:
  $ petstore-harness init --target https://staging.example.com/v1
  $ petstore-harness init --target https://staging.example.com/v1 \\
      --key free=MY_KEY free=MY_OTHER_KEY:ban pro=MY_LOAD_KEY:load
  $ petstore-harness init --target https://staging.example.com/v1 \\
      --key enterprise=MY_KEY --enterprise 5000,1000000`;

/**
 * `plan=VARIABLE` or `plan=VARIABLE:role`.
 *
 * @throws UsageError that repeats nothing, since it may be a key: what the parser says of an argument would repeat it
 */
function namedKey(text: string, before: readonly ProfileKey[] = []): ProfileKey[] {
  const [, named, env = '', role] = /^([^=]*)=([^:]*)(?::(.*))?$/.exec(text) ?? [];
  const plan = PLAN_NAMES.find((known) => known === named);
  const own = KEY_ROLES.find((known) => known === role);
  if (plan === undefined)
    throw new UsageError(`--key: write PLAN=VARIABLE; plans are ${PLAN_NAMES.join(', ')}`);
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(env))
    throw new UsageError(`--key: after ${plan}= comes the name of a variable, never a key itself`);
  if (role !== undefined && own === undefined)
    throw new UsageError(`--key: after the variable comes one of the roles ${KEY_ROLES.join(', ')}`);
  const name = `${plan}-${own === undefined ? '' : `${own}-`}${before.length + 1}`;
  const roles = own === undefined ? (['functional', 'exhaust'] as const) : [own];
  return [...before, { name, plan, env, roles, unusedToday: false }];
}

/** `5000,1000000`: requests a minute and a day. */
function planLimits(text: string): PlanLimits {
  const [, perMinute, perDay] = /^([1-9]\d{0,8}),([1-9]\d{0,8})$/.exec(text) ?? [];
  if (perMinute === undefined)
    throw new InvalidArgumentError('Write its requests a minute and a day: 5000,1000000.');
  return { perMinute: Number(perMinute), perDay: Number(perDay) };
}

const usage = new Command('init')
  .requiredOption('--target <url>', 'base address with the version segment')
  .option(
    '--key <plan=variable...>',
    'a key by its plan and the variable that holds it; append its role if it has one alone: ":ban", ":load"',
    namedKey,
  )
  .option('--enterprise <minute,day>', 'what the Enterprise plan admits a minute and a day', planLimits)
  .addOption(HEADER)
  .option('--ca <file>', 'authorities to trust in place of the machine’s, in PEM')
  .option('--cert <file>', 'client certificate, in PEM')
  .option('--cert-key <file>', 'its private key, in PEM')
  .option('--passphrase-env <variable>', 'the variable that holds the passphrase of that key')
  .option('--env-file <file>', 'file with the variables that hold the keys')
  .option('--out <file>', 'the profile to write', 'petstore-profile.yaml');

/**
 * What the target answers to a request with each key that is set, as a run asks before it judges anything.
 *
 * @throws NothingToJudge if it is not the one that is meant, or wants something that the profile has not
 */
async function firstAnswer(profile: CheckRequest['profile'], set: NodeJS.ProcessEnv): Promise<string> {
  const values = new Map(profile.keys.flatMap(({ name, env }) => (set[env] ? [[name, set[env]]] : [])));
  // A key for load alone is asked with too.
  const keys = profile.keys
    .filter(({ name }) => values.has(name))
    .map((key): ProfileKey => ({ ...key, roles: ['functional'] }));
  if (keys.length === 0) return `not asked: set ${profile.keys.map(({ env }) => env).join(', ')} first`;
  const { nothingToJudge, warnings, trace } = await checkTarget({
    profile: { ...profile, keys },
    ...{ values, permissions: [], only: [] },
    access: accessOf(profile, profile.target, set),
  });
  const isSilent = trace.exchanges.every(
    ({ outcome }) => outcome.kind === 'failure' && outcome.reason !== 'tls' && outcome.reason !== 'proxy',
  );
  if (nothingToJudge !== undefined && !isSilent)
    throw new NothingToJudge(`${nothingToJudge}; nothing was written`);
  if (nothingToJudge !== undefined) return nothingToJudge;
  for (const warning of warnings) process.stderr.write(`warning: ${shownLine(warning, 300)}\n`);
  const answer = trace.exchanges.find(isAnswered);
  return `GET /pets with ${keys[0]?.env} answers ${answer === undefined ? 'nothing' : described(answer)}`;
}

/** What a run costs with one permission more on each line. */
async function costs(profile: CheckRequest['profile']): Promise<string[]> {
  const lines: string[] = [];
  for (const [index, last] of [undefined, ...PERMISSIONS].entries()) {
    const permissions: readonly Permission[] = PERMISSIONS.slice(0, index);
    const { bill } = await planCheck({ profile, permissions });
    const time = duration(Math.max(1, Math.round(bill.time / 1000)));
    const animals = bill.animals === 0 ? '' : `, ${bill.animals} animals (${ADDED_ANIMALS})`;
    const label = last === undefined ? 'reading' : `and ${last}`;
    lines.push(
      `  ${label.padEnd(12)} ${bill.requests.toLocaleString('en')} requests, about ${time}${animals}`,
    );
  }
  return lines;
}

async function init(options: ReturnType<typeof usage.opts>): Promise<void> {
  const { enterprise, envFile, out, header: headers = [], ca, cert, certKey: key, passphraseEnv } = options;
  if (existsSync(out)) throw new UsageError(`${out} exists; choose another file with --out, or remove it`);
  const set = environment(envFile);
  const keys = options.key ?? usualKeys(set);
  if (enterprise === undefined && keys.some(({ plan }) => plan === 'enterprise'))
    throw new UsageError('the document leaves the numbers of Enterprise open: add --enterprise MINUTE,DAY');
  if ((cert === undefined) !== (key === undefined))
    throw new UsageError('--cert and --cert-key go together: name both files, or the same one twice');
  const tls = { insecure: false, ca, cert, key, passphraseEnv };
  const profile = {
    ...PROFILE_DEFAULTS,
    target: addressOf(options.target),
    plans: { enterprise },
    load: { allowed: keys.some(({ roles }) => roles.includes('load')) },
    ...{ keys, headers, tls },
  };
  const told = await firstAnswer(profile, set);
  const beside = (file: string | undefined) => file && relative(dirname(resolve(out)), resolve(file));
  const files = { ca: beside(ca), cert: beside(cert), key: beside(key) };
  const about =
    '# What petstore-harness may do to this target. The keys are in the environment, never here.\n';
  writeFileSync(out, `${about}${profileYaml({ ...profile, tls: { ...tls, ...files } }, out)}`, {
    flag: 'wx',
  });
  const named = { profile: out, envFile };
  const next = keys.every(({ roles }) => roles.every((role) => role === 'load'))
    ? [`Next: ${commandOf(named, 'load smoke')}`]
    : [
        'What a run costs; permissions go into the list "permit" of the profile:',
        ...(await costs(profile)),
        '',
        `Next: ${commandOf(named)}`,
      ];
  process.stdout.write([`written: ${out}`, `target:  ${shownLine(told, 500)}`, '', ...next, ''].join('\n'));
}

/** `init`: writes a profile for a target, asks it with each key, and shows what each permission costs. */
export const command = usage.addHelpText('after', EXAMPLES).action(init);
