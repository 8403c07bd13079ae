import type { Exchange } from './exchange.ts';
import { REDACTED } from './redaction.ts';

/** A text as a POSIX shell takes it. */
export const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

const SHELL_SAFE = /^[\w@%+=:,./-]+$/;

/** A word as a POSIX shell takes it, and as it is where that is possible. */
export const shellWord = (word: string) => (SHELL_SAFE.test(word) ? word : quote(word));

/** A text of ours in a shell, with a key where one was redacted. */
const inShell = (text: string, env: string | undefined) =>
  env !== undefined && text.includes(REDACTED)
    ? `"${text.replaceAll('"', '\\"').replaceAll(REDACTED, `$${env}`)}"`
    : quote(text);

const isAccept = (name: string) => name.toLowerCase() === 'accept';

/** A character that hardly a key has. */
const STRANGE = '~';

/** The key in a shell, less what this expansion takes from it. */
const key = (expansion = '') => `\${KEY${expansion}}`;

const byAwk = (program: string) => `$(printf %s "$KEY" | awk '${program}')`;

/** What a record says of credentials in which a key is hidden, and what makes them of one, within double quotes. */
export const HIDDEN_KEYS: Readonly<Record<string, string>> = {
  'Bearer and a key with one character more': `Bearer ${key()}x`,
  'Bearer and a key with one character fewer': `Bearer ${key('%?')}`,
  'Bearer and a key with its first character missing': `Bearer ${key('#?')}`,
  'Bearer and a key with another first character': `Bearer ${STRANGE}${key('#?')}`,
  'Bearer and a key with another last character': `Bearer ${key('%?')}${STRANGE}`,
  'Bearer and a key with another character in the middle': `Bearer ${byAwk(
    `{ m = int(length($0) / 2); print substr($0, 1, m) "${STRANGE}" substr($0, m + 2) }`,
  )}`,
  'Bearer and a key with one letter in the other case': `Bearer ${byAwk(
    '{ m = match($0, /[A-Za-z][^A-Za-z]*$/); c = substr($0, m, 1); d = toupper(c); if (c == d) d = tolower(c); print substr($0, 1, m - 1) d substr($0, m + 1) }',
  )}`,
  'Basic and a valid key': `Basic $(printf %s: "$KEY" | base64 | tr -d '\\n')`,
};

function authorizationInShell(value: string, env: string | undefined, anyEnv: string | undefined): string {
  if (env !== undefined) return `"Authorization: Bearer $${env}"`;
  // So curl sends a header without a value.
  if (value === '') return "'Authorization;'";
  const derived = HIDDEN_KEYS[value];
  return derived === undefined || anyEnv === undefined
    ? inShell(`Authorization: ${value}`, anyEnv)
    : `"Authorization: ${derived.replaceAll('KEY', anyEnv)}"`;
}

/**
 * A command that repeats an exchange. The key stands as the shell variable that the profile names; where the request
 * carried what was derived from a key, the shell derives it from that of any key.
 *
 * @param env the environment variable of the exchange's key; undefined where it carried none
 * @param anyEnv the environment variable of any key of the run
 * @param access options for what stands in front of the target
 */
export function curl(
  exchange: Exchange,
  baseUrl: string,
  env: string | undefined,
  anyEnv: string | undefined = env,
  access: readonly string[] = [],
): string {
  const { method, path, headers, body } = exchange.request;
  const parts = ['curl', '-i'];
  if (method !== 'GET') parts.push('-X', method);
  for (const [name, value] of headers) {
    if (name.toLowerCase() === 'authorization') {
      parts.push('-H', authorizationInShell(value, env, anyEnv));
    } else if (
      name.toLowerCase() === 'content-type' ||
      (isAccept(name) && value !== 'application/json') ||
      // A key elsewhere than it belongs.
      value.includes(REDACTED)
    ) {
      parts.push('-H', inShell(`${name}: ${value}`, anyEnv));
    }
  }
  parts.push(...access);
  // curl sends one of its own where it is not told to leave it out.
  if (headers.length > 0 && !headers.some(([name]) => isAccept(name))) parts.push('-H', quote('Accept:'));
  if (body !== undefined) parts.push('--data-binary', quote(body));
  parts.push(inShell(baseUrl + path, anyEnv));
  return parts.join(' ');
}
