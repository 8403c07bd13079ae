import { inspect } from 'node:util';
import { CommanderError } from '@commander-js/extra-typings';
import { isWrongName, systemProblem } from '../../checks/profile/file-text.ts';
import { UsageError } from '../../checks/profile/usage-error.ts';
import { redactorOf } from '../../checks/wire/redaction.ts';
import { shownLine } from '../../reports/visible-text.ts';
import { HARNESS_VERSION } from '../../spec/harness-version.ts';
import { EXIT, EXIT_OF } from './exit-codes.ts';

/** What the command is about, once it is known: keys that no message may hold, and where the results are. */
let about: { readonly secrets?: Iterable<string>; readonly directory?: string } = {};

/** Says what more a failure would concern; that a command begins, if nothing is said. */
export function concerning(more?: typeof about): void {
  about = more === undefined ? {} : { ...about, ...more };
}

/** What the system did not do, in words. Neither target nor harness did anything wrong. */
function refusedBySystem(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  // What Node says of a module that it could not open, or of an installation that is not whole.
  if ('code' in error && error.code === 'ERR_MODULE_NOT_FOUND')
    return `${error.message}; allow more open files (ulimit -n), or install again`;
  const words = systemProblem(error);
  return words === undefined ? undefined : `${words} (${error.message})`;
}

/** Throws an error as it is, but as wrong usage where another program has the port. */
export function refusedPort(error: unknown): never {
  const isTaken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
  throw isTaken ? new UsageError(`${error.message}; --port 0 takes a free one`) : error;
}

/** Whether results could not be written, for example because the disk is full. */
export const isDiskProblem = (error: unknown): boolean => refusedBySystem(error) !== undefined;

/** Ends the command after an error. A defect of the harness ends the process, with an exit code of its own. */
export function failure(error: unknown): void {
  if (error instanceof CommanderError) {
    // The parser has said it; --help and --version end with its code 0.
    process.exitCode = error.exitCode === 0 ? 0 : EXIT.usage;
    return;
  }
  const { name = '', message = String(error) } = error instanceof Error ? error : {};
  const refused = refusedBySystem(error);
  const ofSystem = isWrongName(error) ? EXIT.usage : EXIT.inconclusive;
  const known = EXIT_OF[name] ?? (refused === undefined ? undefined : ofSystem);
  const { directory } = about;
  if (known === undefined) crash(error);
  if (refused !== undefined && directory !== undefined) {
    process.stderr.write(
      `error: the run cannot go on: ${refused}; what was measured so far is in ${directory}\n`,
    );
    process.exitCode = EXIT.inconclusive;
    return;
  }
  for (const line of (refused ?? message).split('\n'))
    process.stderr.write(`error: ${shownLine(line, 500)}\n`);
  process.exitCode = known;
}

/** Variables that hold keys, judged by their names. A crash may come before the profile was read. */
const SECRET_VARIABLE = /KEY|TOKEN|SECRET|PASSWORD/i;

function crash(error: unknown): never {
  const environment = Object.entries(process.env).flatMap(([name, value]) =>
    SECRET_VARIABLE.test(name) && value !== undefined && value.length >= 4 ? [value] : [],
  );
  const redact = redactorOf([...(about.secrets ?? []), ...environment]);
  const [summary] = (error instanceof Error ? error.message : String(error)).split('\n');
  const facts = `petstore-harness ${HARNESS_VERSION}, Node ${process.version}, ${process.platform}`;
  process.stderr.write(
    redact(
      `error: petstore-harness itself failed, which says nothing about the target: ${summary}\n${facts}\n${process.argv.slice(2).join(' ')}\n${inspect(error, { depth: 5 })}\n`,
    ),
  );
  process.exit(EXIT.crash);
}
