import { readFileSync } from 'node:fs';
import { LineCounter, parseDocument } from 'yaml';
import type { IssuedKey } from '../api-keys.ts';
import { isPlan, PLANS } from '../plans.ts';

/** An unusable key file; the message names the file and the problem. */
export class KeyFileError extends Error {
  constructor(file: string, problem: string) {
    super(`${file}: ${problem}`);
    this.name = 'KeyFileError';
  }
}

// The bearer token syntax of RFC 6750.
const TOKEN = /^[A-Za-z0-9\-._~+/]+=*$/;
const NAME = /^[A-Za-z0-9._-]+$/;

function field(entry: unknown, name: string): unknown {
  return typeof entry === 'object' && entry !== null
    ? Object.getOwnPropertyDescriptor(entry, name)?.value
    : undefined;
}

function readKey(file: string, entry: unknown, position: number, environment: NodeJS.ProcessEnv): IssuedKey {
  const fail = (problem: string) => new KeyFileError(file, `key ${position}: ${problem}`);
  const name = field(entry, 'name');
  const plan = field(entry, 'plan');
  const env = field(entry, 'env');
  if (typeof name !== 'string' || !NAME.test(name))
    throw fail('name is to be letters, digits, ".", "_" and "-"');
  if (typeof plan !== 'string' || !isPlan(plan)) throw fail(`plan is to be one of ${PLANS.join(', ')}`);
  if (field(entry, 'value') !== undefined)
    throw fail('values belong in the environment; name the variable in env');
  if (typeof env !== 'string') throw fail('env is to name the environment variable that holds the value');
  const value = environment[env];
  if (value === undefined || value === '') throw fail(`the environment variable ${env} is not set`);
  if (!TOKEN.test(value)) throw fail(`the value in ${env} is no bearer token`);
  return { name, plan, value };
}

/** The list `keys` of a YAML file. */
function entriesIn(file: string): readonly unknown[] {
  try {
    const lines = new LineCounter();
    const document = parseDocument(readFileSync(file, 'utf8'), { lineCounter: lines });
    const [problem] = document.errors;
    if (problem !== undefined) {
      const { line } = lines.linePos(problem.pos[0]);
      throw new KeyFileError(`${file}:${line}`, problem.message.split('\n')[0] ?? '');
    }
    const entries = field(document.toJS(), 'keys');
    if (Array.isArray(entries) && entries.length > 0) return entries;
  } catch (error) {
    if (error instanceof KeyFileError) throw error;
    throw new KeyFileError(file, error instanceof Error ? error.message : String(error));
  }
  throw new KeyFileError(file, 'keys must be a list of keys');
}

/**
 * Reads `keys: [{ name, plan, env }]` from a YAML file; the values come from the environment.
 *
 * @throws KeyFileError for any problem; the message never contains a key's value
 */
export function readKeyFile(file: string, environment: NodeJS.ProcessEnv): IssuedKey[] {
  const keys = entriesIn(file).map((entry, index) => readKey(file, entry, index + 1, environment));
  for (const property of ['name', 'value'] as const) {
    if (new Set(keys.map((key) => key[property])).size < keys.length) {
      throw new KeyFileError(file, `two keys have the same ${property}`);
    }
  }
  return keys;
}
