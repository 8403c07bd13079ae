import type { Exchange } from './exchange.ts';

const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

const isAccept = (name: string) => name.toLowerCase() === 'accept';

/**
 * A command that repeats an exchange. The key stands as the shell variable that the profile names; a request that
 * carried no valid key is repeated with what it carried, described where that was derived from one.
 *
 * @param env the environment variable of the exchange's key; undefined where it carried none
 */
export function curl(exchange: Exchange, baseUrl: string, env: string | undefined): string {
  const { method, path, headers, body } = exchange.request;
  const parts = ['curl', '-i'];
  if (method !== 'GET') parts.push('-X', method);
  for (const [name, value] of headers) {
    if (name.toLowerCase() === 'authorization') {
      parts.push(
        '-H',
        env === undefined ? quote(`Authorization: ${value}`) : `"Authorization: Bearer $${env}"`,
      );
    } else if (name.toLowerCase() === 'content-type' || (isAccept(name) && value !== 'application/json')) {
      parts.push('-H', quote(`${name}: ${value}`));
    }
  }
  // curl sends one of its own where it is not told to leave it out.
  if (headers.length > 0 && !headers.some(([name]) => isAccept(name))) parts.push('-H', quote('Accept:'));
  if (body !== undefined) parts.push('--data-binary', quote(body));
  parts.push(quote(baseUrl + path));
  return parts.join(' ');
}
