import { existsSync, writeFileSync } from 'node:fs';
import { createInterface, type Interface } from 'node:readline/promises';
import { Command } from 'commander';
import { PERMISSIONS, type Permission } from '../../checks/profile/permissions.ts';
import {
  PLAN_NAMES,
  type PlanName,
  PROFILE_DEFAULTS,
  type ProfileKey,
  type TargetProfile,
} from '../../checks/profile/target-profile.ts';
import { profileYaml } from '../../checks/profile/write-profile.ts';
import { readBaseAddress } from '../../checks/wire/base-address.ts';
import { createClient } from '../../checks/wire/client.ts';
import { isAnswered } from '../../checks/wire/exchange.ts';
import { described, looksLikeTheService } from '../../checks/wire/pets.ts';
import { listPets } from '../../checks/wire/requests.ts';
import { duration } from '../../reports/facts.ts';
import { commandOf } from '../check/check-options.ts';
import { planCheck, requestsOf } from '../check/check-plan.ts';
import { UsageError } from '../shared/exit-codes.ts';
import { addressOf, environment, unsentValues } from '../shared/profile-file.ts';
import { print } from '../shared/standard-output.ts';
import { withoutUndefined } from '../shared/without-undefined.ts';

const EXAMPLES = `
Examples:
  $ petstore-harness init                                              asks, on a terminal
  $ petstore-harness init --target https://staging.example.com/v1 --key free=PETSTORE_FREE_KEY
  $ petstore-harness init --target https://staging.example.com/v1 --key free=PETSTORE_FREE_KEY free=PETSTORE_BAN_KEY:ban`;

interface InitOptions {
  readonly target?: string;
  readonly key?: readonly string[];
  readonly envFile?: string;
  readonly out: string;
}

type NamedKey = Pick<ProfileKey, 'plan' | 'env' | 'roles'>;

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * `plan=VARIABLE`, or `plan=VARIABLE:ban` for a key that may be banned.
 *
 * @throws UsageError that repeats nothing after the plan, since that may be a key
 */
function namedKey(text: string): NamedKey {
  const [, name = '', env = '', ban] = /^([^=]*)=([^:]*)(:ban)?$/.exec(text) ?? [];
  const plan = planNamed(name);
  if (plan === undefined)
    throw new UsageError('--key: write PLAN=VARIABLE; plans are free, pro and business');
  if (!VARIABLE.test(env))
    throw new UsageError(`--key: after ${plan}= comes the name of a variable, never a key itself`);
  return { plan, env, roles: ban === undefined ? ['functional', 'exhaust'] : ['ban'] };
}

/** A plan by its name, except Enterprise, whose numbers nobody types at a prompt. */
const planNamed = (name: string): PlanName | undefined =>
  PLAN_NAMES.find((plan) => plan === name && plan !== 'enterprise');

/** What the user answers. @throws UsageError if the user ends it with Ctrl-C or Ctrl-D instead */
async function askTerminal<T>(ask: (terminal: Interface) => Promise<T>): Promise<T> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await ask(terminal);
  } catch (error) {
    if (!(error instanceof Error && error.name === 'AbortError')) throw error;
    process.stderr.write('\n');
    throw new UsageError('nothing was written: not all questions were answered');
  } finally {
    terminal.close();
  }
}

async function askTarget(terminal: Interface): Promise<string> {
  let target = '';
  for (let read = readBaseAddress(target); !read.ok; read = readBaseAddress(target)) {
    if (target !== '') process.stderr.write(`  ${read.message}; ${read.remedy}\n`);
    target = await terminal.question('Base address, such as https://staging.example.com/v1: ');
  }
  return target;
}

async function askKeys(terminal: Interface): Promise<NamedKey[]> {
  const keys: NamedKey[] = [];
  for (const plan of PLAN_NAMES.filter((name) => planNamed(name) !== undefined)) {
    const env = await variable(terminal, `Variable with a ${plan} key (leave empty if there is none): `);
    if (env !== '') keys.push({ plan, env, roles: ['functional', 'exhaust'] });
  }
  const env = await variable(
    terminal,
    'Variable with a Free key that may be banned (leave empty if there is none): ',
  );
  if (env !== '') keys.push({ plan: 'free', env, roles: ['ban'] });
  return keys;
}

async function variable(terminal: Interface, question: string): Promise<string> {
  for (;;) {
    const name = (await terminal.question(question)).trim();
    if (name === '' || VARIABLE.test(name)) return name;
    process.stderr.write('  the name of a variable, never the key itself\n');
  }
}

function profileOf(target: string, keys: readonly NamedKey[]): TargetProfile & { target: string } {
  const counts = new Map<string, number>();
  return {
    target,
    keys: keys.map(({ plan, env, roles }) => {
      const number = (counts.get(plan) ?? 0) + 1;
      counts.set(plan, number);
      return {
        name: roles.includes('ban') ? `${plan}-ban` : `${plan}-${number}`,
        plan,
        env,
        roles,
        unusedToday: false,
      };
    }),
    ...PROFILE_DEFAULTS,
  };
}

/** The target's answer to one request with the first key that is set. */
async function firstAnswer({ target, keys }: ReturnType<typeof profileOf>, envFile: string | undefined) {
  const set = environment(envFile);
  const key = keys.find(({ env }) => set[env] !== undefined);
  const value = key === undefined ? undefined : set[key.env];
  if (key === undefined || value === undefined)
    return `not tried: set ${keys.map(({ env }) => env).join(', ')} first`;
  const client = createClient({ baseUrl: target, now: Date.now, secrets: [value] });
  try {
    const authorization = { kind: 'key', name: key.name, value } as const;
    const exchange = await client.exchange(
      { ...listPets({ limit: 1 }), authorization },
      { id: 'init', sentBy: 'init' },
    );
    if (exchange.outcome.kind === 'failure') return `no answer: ${exchange.outcome.message}`;
    if (!isAnswered(exchange)) return 'no answer';
    const service = looksLikeTheService(exchange) ? '' : ', which is not the Pet Store Service';
    return `GET /pets with ${key.env} answers ${described(exchange)}${service}`;
  } finally {
    await client.close();
  }
}

/** What a run costs with one permission more on each line. */
function costs(profile: ReturnType<typeof profileOf>): string[] {
  const values = unsentValues(profile);
  return [undefined, ...PERMISSIONS].map((last, index) => {
    const permissions: readonly Permission[] = PERMISSIONS.slice(0, index);
    const { bill, checks, skipped } = planCheck({ profile, values, permissions, only: undefined });
    const time = duration(Math.max(1, Math.round(bill.total / 1000)));
    const animals = bill.animals === 0 ? '' : `, ${bill.animals} animals that stay`;
    const label = last === undefined ? 'reading' : `and ${last}`;
    return `  ${label.padEnd(12)} ${checks - skipped.size} of ${checks} requirements: ${requestsOf(bill).toLocaleString('en')} requests, about ${time}${animals}`;
  });
}

async function init(options: InitOptions): Promise<void> {
  if (existsSync(options.out))
    throw new UsageError(`${options.out} exists; choose another file with --out, or remove it`);
  const givenTarget = options.target === undefined ? undefined : addressOf(options.target);
  const givenKeys = options.key?.map(namedKey);
  if ((givenTarget === undefined || givenKeys === undefined) && !process.stdin.isTTY)
    throw new UsageError('there is no terminal to ask: give --target URL and --key PLAN=VARIABLE');
  const target = givenTarget ?? (await askTerminal(askTarget));
  const keys = givenKeys ?? (await askTerminal(askKeys));
  if (keys.length === 0) throw new UsageError('every request carries a key: name at least one');
  const profile = profileOf(target, keys);
  const answer = await firstAnswer(profile, options.envFile);
  writeFileSync(
    options.out,
    `# What petstore-harness may do to this target. The keys are in the environment, never here.\n${profileYaml(profile)}`,
    { flag: 'wx' },
  );
  await print(
    [
      `written: ${options.out}`,
      `target:  ${answer}`,
      '',
      'What is verified, and what it costs; permissions go into the list "permit" of the profile:',
      ...costs(profile),
      '',
      `Next: ${commandOf(withoutUndefined({ profile: options.out, envFile: options.envFile }))}`,
      '',
    ].join('\n'),
  );
}

/** `init`: writes a profile for a target, tries it with one request, and shows what each permission costs. */
export const initCommand = new Command('init')
  .option('--target <url>', 'base address with the version segment')
  .option(
    '--key <plan=variable...>',
    'a key by its plan and the variable that holds it; append ":ban" if the key may be banned',
  )
  .option('--env-file <file>', 'file with the variables that hold the keys')
  .option('--out <file>', 'the profile to write', 'petstore-profile.yaml')
  .addHelpText('after', EXAMPLES)
  .action(init);
