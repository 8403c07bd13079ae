import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { createRedactor } from '../../checks/wire/redaction.ts';
import { HARNESS_VERSION } from '../../spec/harness-version.ts';
import { EXIT } from './exit-codes.ts';

/** Variables that hold keys, judged by their names. A crash may come before the profile was read. */
const SECRET_VARIABLE = /KEY|TOKEN|SECRET|PASSWORD/i;

function secretsOfEnvironment(): string[] {
  return Object.entries(process.env).flatMap(([name, value]) =>
    SECRET_VARIABLE.test(name) && value !== undefined && value.length >= 4 ? [value] : [],
  );
}

/**
 * Ends the process after a defect of the harness, with one line, the details in a file and an exit code of its own: a
 * crash says nothing about the target.
 *
 * @param secrets key values, which are redacted in the details, as those of the environment are
 * @param directory where the details go, or else to a new temporary folder
 */
export function crash(error: unknown, secrets: Iterable<string> = [], directory?: string): never {
  const { redact } = createRedactor([...secrets, ...secretsOfEnvironment()]);
  const command = process.argv.slice(2).join(' ');
  const about = `petstore-harness ${HARNESS_VERSION}, Node ${process.version}, ${process.platform}\n${command}\n\n`;
  const file = writeDetails(redact(`${about}${inspect(error, { depth: 5 })}\n`), directory);
  const [summary = ''] = redact(error instanceof Error ? error.message : String(error)).split('\n');
  const where = file === undefined ? '' : `; details: ${file}`;
  process.stderr.write(
    `error: petstore-harness itself failed, which says nothing about the target: ${summary}${where}\n`,
  );
  process.exit(EXIT.crash);
}

function writeDetails(text: string, directory: string | undefined): string | undefined {
  for (const folder of [() => directory, () => mkdtempSync(join(tmpdir(), 'petstore-harness-'))]) {
    try {
      const path = folder();
      if (path === undefined) continue;
      const file = join(path, 'crash.txt');
      writeFileSync(file, text, { mode: 0o600 });
      return file;
    } catch {
      // The disk may be full. Then the one line must be enough.
    }
  }
  return undefined;
}
