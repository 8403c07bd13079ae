import { Command } from 'commander';
import { EVERY_FAULT } from '../../reference-server/deviations/faults/index.ts';
import { UnknownNameError } from '../../reference-server/deviations/named.ts';
import { EVERY_VARIANT } from '../../reference-server/deviations/variants/index.ts';
import { MOST_ANIMALS } from '../../reference-server/pet-store.ts';
import { DOCUMENTED_PLANS } from '../../reference-server/plans.ts';
import { startReferenceServer } from '../../reference-server/reference-server.ts';
import type { ReferenceServer } from '../../reference-server/server.ts';
import { textTable } from '../../spec/text-table.ts';
import { EXIT, UsageError } from '../shared/exit-codes.ts';
import { numberFrom, wholeNumber } from '../shared/number-option.ts';
import { withoutUndefined } from '../shared/without-undefined.ts';
import { writeServeProfile } from './serve-profile.ts';

interface ServeOptions {
  readonly port: number;
  readonly host: string;
  readonly profileOut?: string;
  readonly fault?: readonly string[];
  readonly variant?: string;
  readonly clockSpeed: number;
  readonly animals: number;
  readonly banThreshold: number;
  readonly banSeconds: number;
  readonly enterprisePerMinute: number;
  readonly enterprisePerDay: number;
  readonly listFaults?: true;
  readonly listVariants?: true;
}

const EXAMPLES = `
Examples:
  $ petstore-harness serve --port 8080
  $ petstore-harness serve --profile-out local.yaml         then, in another shell:
  $ set -a; . ./local.yaml.env; petstore-harness check --profile local.yaml
  $ petstore-harness serve --clock-speed 60                 one real second is a minute
  $ petstore-harness serve --variant token-bucket --fault reset-in-milliseconds`;

const list = (rows: readonly (readonly string[])[]) =>
  void process.stdout.write(`${textTable(rows).join('\n')}\n`);

function untilStopped(server: ReferenceServer): Promise<void> {
  return new Promise((resolve) => {
    let stopping = false;
    const stop = (exitCode: number) => {
      // A second signal does not wait for requests under way.
      if (stopping) process.exit(exitCode);
      stopping = true;
      process.exitCode = exitCode;
      void server.close().then(resolve);
    };
    process.on('SIGINT', () => stop(EXIT.interrupted));
    process.on('SIGTERM', () => stop(0));
  });
}

function describe(server: ReferenceServer, options: ServeOptions): string {
  const lines: string[] = [];
  if (options.variant !== undefined) lines.push(`variant: ${options.variant}`);
  if (options.fault !== undefined) lines.push(`fault: ${options.fault.join(', ')}`);
  if (server.clock.speed !== 1) lines.push(`one real second is ${server.clock.speed} of this server's`);
  return lines.map((line) => `${line}\n`).join('');
}

/** Why the system refuses an address, in a sentence that says what to do. */
function addressProblem(code: unknown, { host, port }: ServeOptions): string | undefined {
  if (code === 'EADDRINUSE') return `port ${port} of ${host} is in use; --port 0 takes a free one`;
  if (code === 'EACCES') return `port ${port} may not be used by this user; --port 0 takes a free one`;
  return code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND'
    ? `${host} is no address of this machine`
    : undefined;
}

async function started(options: ServeOptions): Promise<ReferenceServer> {
  const { port, host, clockSpeed, animals, fault, variant } = options;
  try {
    return await startReferenceServer({
      ...{ port, host, clockSpeed, animals },
      enterprise: { perMinute: options.enterprisePerMinute, perDay: options.enterprisePerDay },
      ban: { threshold: options.banThreshold, seconds: options.banSeconds },
      ...withoutUndefined({ fault, variant }),
    });
  } catch (error) {
    if (error instanceof UnknownNameError)
      throw new UsageError(`${error.message} (see --list-faults and --list-variants)`);
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    const problem = addressProblem(code, options);
    if (problem === undefined) throw error;
    throw new UsageError(problem);
  }
}

async function serve(options: ServeOptions): Promise<void> {
  if (options.listFaults === true)
    return list(EVERY_FAULT.map(({ name, breaks, summary }) => [name, breaks, summary]));
  if (options.listVariants === true) return list(EVERY_VARIANT.map(({ name, summary }) => [name, summary]));
  const server = await started(options);
  if (options.profileOut !== undefined) {
    try {
      const secrets = writeServeProfile(options.profileOut, server);
      process.stderr.write(`profile: ${options.profileOut}\nkeys:    set -a; . ${secrets}\n`);
    } catch (error) {
      await server.close();
      const reason = error instanceof Error ? error.message : String(error);
      throw new UsageError(`the profile cannot be written: ${reason}`);
    }
  }
  // Alone on its line, and after the profile: a program that started this one may wait for it.
  process.stdout.write(`${server.baseUrl}\n`);
  process.stderr.write(describe(server, options));
  await untilStopped(server);
}

/** `serve`: the reference server in the foreground. It conforms unless an option names a fault. */
export const serveCommand = new Command('serve')
  .option('--port <n>', 'port to listen on; 0 takes a free one', wholeNumber(0, 65_535), 0)
  .option('--host <address>', 'address to listen on', '127.0.0.1')
  .option(
    '--profile-out <file>',
    'write a target profile to FILE, and the keys to FILE.env, without those that a run could not exhaust in time',
  )
  .option(
    '--fault <name>',
    'break exactly one requirement; may be repeated',
    (name: string, before: readonly string[] = []) => [...before, name],
  )
  .option('--variant <name>', 'answer what the document leaves open in another way; still conforming')
  .option('--clock-speed <n>', 'seconds of the server in one real second', numberFrom(1, 100_000), 1)
  .option(
    '--animals <n>',
    'animals in the store at the start; it holds a million, or 100 MB of names',
    wholeNumber(0, MOST_ANIMALS),
    120,
  )
  .option('--ban-threshold <n>', 'requests after a 429 that lead to a ban', wholeNumber(1, 1_000_000), 10)
  .option('--ban-seconds <n>', 'how long a ban lasts', wholeNumber(1, 86_400), 60)
  .option(
    '--enterprise-per-minute <n>',
    'requests a minute of the Enterprise plan',
    wholeNumber(1, 1e9),
    DOCUMENTED_PLANS.enterprise.perMinute,
  )
  .option(
    '--enterprise-per-day <n>',
    'requests a day of the Enterprise plan',
    wholeNumber(1, 1e12),
    DOCUMENTED_PLANS.enterprise.perDay,
  )
  .option('--list-faults', 'print every fault: name, requirement that it breaks, what it does')
  .option('--list-variants', 'print every variant: name, what it is like')
  .addHelpText('after', EXAMPLES)
  .action(serve);
