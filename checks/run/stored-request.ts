import type { Authorization, ClientRequest } from '../wire/client.ts';
import { type ExchangeRequest, headerValues } from '../wire/exchange.ts';
import { REDACTED } from '../wire/redaction.ts';

/**
 * Whether a stored text is this one: where a key stood in it, which is not at hand when a run is judged again, any text
 * is taken for it.
 */
function isSame(stored: string, text: string): boolean {
  const [first = '', ...others] = stored.split(REDACTED);
  const last = others.pop();
  if (last === undefined) return stored === text;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const piece of others) {
    const found = text.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}

/** Which key paid is the run's choice and may be another one; whether one did, and what stood in its place, is not. */
function sameCredentials(stored: ExchangeRequest, key: string | null, authorization: Authorization): boolean {
  if (authorization.kind === 'key') return key !== null;
  const [shown] = headerValues(stored.headers, 'authorization');
  return key === null && shown === (authorization.kind === 'raw' ? authorization.described : undefined);
}

const shortened = (text: string) => (text.length > 80 ? `${text.slice(0, 80)}…` : text);

/**
 * Compares a request with the one of a stored exchange that bears the same id. Another version of the harness may have
 * asked something else there, and its answer would be judged as that of a request that was never sent. What the client
 * adds of its own is left out.
 *
 * @returns what the stored run asked instead, in words; undefined where both are the same
 */
export function askedInstead(
  { request: stored, key }: { readonly request: ExchangeRequest; readonly key: string | null },
  request: ClientRequest,
): string | undefined {
  const { method, path, headers = [], acceptsAnything = false, body, authorization } = request;
  const what = `${stored.method} ${shortened(stored.path)}`;
  if (stored.method !== method || !isSame(stored.path, path)) return what;
  if (!sameCredentials(stored, key, authorization)) return `${what} with other credentials`;
  const sameBody =
    stored.body === undefined || body === undefined ? stored.body === body : isSame(stored.body, body);
  if (!sameBody) return `${what} with another body`;
  const sameHeaders = headers.every(([name, value]) =>
    headerValues(stored.headers, name).some((shown) => isSame(shown, value)),
  );
  const sameAccept = !acceptsAnything || headerValues(stored.headers, 'accept').length === 0;
  return sameHeaders && sameAccept ? undefined : `${what} with other headers`;
}
