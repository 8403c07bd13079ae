import { existsSync, writeFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { accessOf } from '../../checks/profile/access.ts';
import {
  KEY_ROLES,
  PLAN_NAMES,
  type PlanLimits,
  PROFILE_DEFAULTS,
  type ProfileKey,
  type TargetProfile,
} from '../../checks/profile/target-profile.ts';
import { UsageError } from '../../checks/profile/usage-error.ts';
import { profileYaml } from '../../checks/profile/write-profile.ts';
import { notTheService, noUsableAnswer, refusedKey } from '../../checks/run/preflight.ts';
import { createClient } from '../../checks/wire/client.ts';
import { isAnswered } from '../../checks/wire/exchange.ts';
import { described, looksLikeTheService } from '../../checks/wire/pets.ts';
import { listPets } from '../../checks/wire/requests.ts';
import { duration } from '../../reports/facts.ts';
import { shownLine } from '../../reports/visible-text.ts';
import { PERMISSIONS, type Permission } from '../../spec/permissions.ts';
import { commandOf } from '../check/check-options.ts';
import { planCheck } from '../check/check-plan.ts';
import { EXIT } from '../shared/exit-codes.ts';
import { HEADER } from '../shared/option-values.ts';
import { addressOf, environment, USUAL_VARIABLES, usualKeys, warnOfVersion } from '../shared/profile-file.ts';
import { print } from '../shared/standard-output.ts';
import { withoutUndefined } from '../shared/without-undefined.ts';

const EXAMPLES = `
Without --key the keys come from the variables that are set of
${USUAL_VARIABLES}. The target is asked once, with the first key that is set.

Examples:
  $ petstore-harness init --target https://staging.example.com/v1
  $ petstore-harness init --target https://staging.example.com/v1 --key free=MY_KEY free=MY_OTHER_KEY:ban
  $ petstore-harness init --target https://staging.example.com/v1 --key pro=MY_LOAD_KEY:load
  $ petstore-harness init --target https://staging.example.com/v1 --key enterprise=MY_KEY --enterprise 5000,1000000`;

interface InitOptions extends Pick<TargetProfile['tls'], 'ca' | 'cert' | 'passphraseEnv'> {
  readonly certKey?: string;
  readonly header?: TargetProfile['headers'];
  readonly target: string;
  readonly key?: readonly NamedKey[];
  readonly enterprise?: PlanLimits;
  readonly envFile?: string;
  readonly out: string;
}

type NamedKey = Pick<ProfileKey, 'plan' | 'env' | 'roles'>;
type InitProfile = TargetProfile & { readonly target: string };

/**
 * `plan=VARIABLE` or `plan=VARIABLE:role`.
 *
 * @throws UsageError that repeats nothing, since it may be a key: what the parser says of an argument would repeat it
 */
function namedKey(text: string, before: readonly NamedKey[] = []): NamedKey[] {
  const [, name, env = '', role] = /^([^=]*)=([^:]*)(?::(.*))?$/.exec(text) ?? [];
  const plan = PLAN_NAMES.find((known) => known === name);
  const own = KEY_ROLES.find((known) => known === role);
  if (plan === undefined)
    throw new UsageError(`--key: write PLAN=VARIABLE; plans are ${PLAN_NAMES.join(', ')}`);
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(env))
    throw new UsageError(`--key: after ${plan}= comes the name of a variable, never a key itself`);
  if (role !== undefined && own === undefined)
    throw new UsageError(`--key: after the variable comes one of the roles ${KEY_ROLES.join(', ')}`);
  return [...before, { plan, env, roles: own === undefined ? ['functional', 'exhaust'] : [own] }];
}

/** `5000,1000000`: requests a minute and a day. */
function planLimits(text: string): PlanLimits {
  const [, perMinute, perDay] = /^([1-9]\d{0,8}),([1-9]\d{0,8})$/.exec(text) ?? [];
  if (perMinute === undefined)
    throw new InvalidArgumentError('Write its requests a minute and a day: 5000,1000000.');
  return { perMinute: Number(perMinute), perDay: Number(perDay) };
}

function profileOf(
  target: string,
  keys: readonly NamedKey[],
  enterprise: PlanLimits | undefined,
): InitProfile {
  if (enterprise === undefined && keys.some(({ plan }) => plan === 'enterprise'))
    throw new UsageError('the document leaves the numbers of Enterprise open: add --enterprise MINUTE,DAY');
  const counts = new Map<string, number>();
  const named = keys.map(({ plan, env, roles }) => {
    const [role = ''] = roles;
    const stem = roles.length === 1 && role !== 'functional' ? `${plan}-${role}` : plan;
    const number = (counts.get(stem) ?? 0) + 1;
    counts.set(stem, number);
    const name = stem !== plan && number === 1 ? stem : `${stem}-${number}`;
    return { name, plan, env, roles, unusedToday: false };
  });
  return {
    target,
    keys: named,
    ...PROFILE_DEFAULTS,
    plans: withoutUndefined({ enterprise }),
    load: { allowed: keys.some(({ roles }) => roles.includes('load')) },
  };
}

/** What the target answers to one request with the first key that is set, or why it is not the one that is meant. */
async function firstAnswer(
  profile: InitProfile,
  envFile: string | undefined,
): Promise<{ readonly told: string; readonly refused?: boolean }> {
  const { target, keys } = profile;
  const set = environment(envFile);
  const key = keys.find(({ env }) => set[env]);
  const value = set[key?.env ?? ''];
  if (key === undefined || value === undefined)
    return { told: `not asked: set ${keys.map(({ env }) => env).join(', ')} first` };
  const access = accessOf(profile, target, set);
  const client = createClient({ baseUrl: target, now: Date.now, secrets: [value], access });
  try {
    const request = {
      ...listPets({ limit: 1 }),
      authorization: { kind: 'key', name: key.name, value },
    } as const;
    const exchange = await client.exchange(request, { id: 'init', sentBy: 'init', intent: 'preflight' });
    if (exchange.outcome.kind === 'failure') {
      const { reason } = exchange.outcome;
      return {
        told: noUsableAnswer(target, exchange.outcome),
        refused: reason === 'tls' || reason === 'proxy',
      };
    }
    if (!isAnswered(exchange)) return { told: 'no answer' };
    const { status } = exchange.outcome;
    if (!looksLikeTheService(exchange)) return { told: notTheService(target, exchange), refused: true };
    if (status === 401) return { told: refusedKey(status, key), refused: true };
    return { told: `GET /pets with ${key.env} answers ${described(exchange)}` };
  } finally {
    await client.close();
  }
}

/** What a run costs with one permission more on each line. */
async function costs(profile: InitProfile): Promise<string[]> {
  const values = new Map(profile.keys.map(({ name }) => [name, `not-sent-${name}`]));
  const lines: string[] = [];
  for (const [index, last] of [undefined, ...PERMISSIONS].entries()) {
    const permissions: readonly Permission[] = PERMISSIONS.slice(0, index);
    const { bill, checks, skipped } = await planCheck({ profile, values, permissions });
    const time = duration(Math.max(1, Math.round(bill.time / 1000)));
    const animals = bill.animals === 0 ? '' : `, ${bill.animals} animals that stay`;
    const label = last === undefined ? 'reading' : `and ${last}`;
    lines.push(
      `  ${label.padEnd(12)} ${checks - skipped.size} of ${checks} requirements: ${bill.requests.toLocaleString('en')} requests, about ${time}${animals}`,
    );
  }
  return lines;
}

async function init(options: InitOptions): Promise<void> {
  const { target: asked, key: named, enterprise, envFile, out, header, certKey } = options;
  if (existsSync(out)) throw new UsageError(`${out} exists; choose another file with --out, or remove it`);
  const keys = named ?? usualKeys(environment(envFile));
  const { ca, cert, passphraseEnv } = options;
  const files = Object.entries({ ca, cert, key: certKey }).flatMap(([name, file]) =>
    file === undefined ? [] : [[name, resolve(file)]],
  );
  const tls = { insecure: false, ...Object.fromEntries(files), ...withoutUndefined({ passphraseEnv }) };
  const profile = { ...profileOf(addressOf(asked), keys, enterprise), headers: header ?? [], tls };
  warnOfVersion(profile.target);
  const { told, refused } = await firstAnswer(profile, envFile);
  if (refused === true) {
    process.stderr.write(`error: ${shownLine(told, 500)}; nothing was written\n`);
    process.exitCode = EXIT.nothingToJudge;
    return;
  }
  const about =
    '# What petstore-harness may do to this target. The keys are in the environment, never here.\n';
  const beside = Object.fromEntries(
    files.map(([name, file]) => [name, relative(dirname(resolve(out)), String(file))]),
  );
  const text = profileYaml({ ...profile, tls: { ...tls, ...beside } }, out);
  writeFileSync(out, `${about}${text}`, { flag: 'wx' });
  await print(
    [
      `written: ${out}`,
      `target:  ${shownLine(told, 500)}`,
      '',
      'What is verified, and what it costs; permissions go into the list "permit" of the profile:',
      ...(await costs(profile)),
      '',
      `Next: ${commandOf(withoutUndefined({ profile: out, envFile }))}`,
      '',
    ].join('\n'),
  );
}

/** `init`: writes a profile for a target, asks it once, and shows what each permission costs. */
export const command = new Command('init')
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
  .option('--out <file>', 'the profile to write', 'petstore-profile.yaml')
  .addHelpText('after', EXAMPLES)
  .action(init);
