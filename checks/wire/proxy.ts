/** A proxy between this machine and the target: CONNECT for https, forwarded requests for http. */
import { request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import type { buildConnector } from 'undici';
import {
  type FailureOutcome,
  type HeaderList,
  header,
  type ResponseOutcome,
  wasNeverSent,
} from './exchange.ts';
import { failureOf, ProxyError } from './exchange-failure.ts';

/** Whether a proxy reads the requests to an origin and passes them on; for TLS it makes a tunnel. */
export const isRead = (origin: string) => origin.startsWith('http:');

/** What tells the proxy who asks. */
export function proxyCredentials({ username, password }: URL): HeaderList {
  if (username === '') return [];
  const decoded = [username, password].map(decodeURIComponent).join(':');
  return [['proxy-authorization', `Basic ${Buffer.from(decoded).toString('base64')}`]];
}

const ASKS_FOR_CREDENTIALS = 'asks for credentials (407)';

/** Makes a way through the proxy to a host and port, on which TLS can begin. */
export function tunnel(proxy: URL, to: string, timeout: number, done: buildConnector.Callback): void {
  const { protocol, hostname, port } = proxy;
  const connect = (protocol === 'https:' ? tlsRequest : plainRequest)({
    ...{ hostname: hostname.replace(/[[\]]/g, ''), port, method: 'CONNECT', path: to, agent: false, timeout },
    headers: { host: to, ...Object.fromEntries(proxyCredentials(proxy)) },
  });
  connect.once('connect', ({ statusCode: status }, socket) => {
    if (status === 200) return done(null, socket);
    socket.destroy();
    const what = status === 407 ? ASKS_FOR_CREDENTIALS : `answers ${status} to CONNECT ${to}`;
    done(new ProxyError(what), null);
  });
  connect.once('timeout', () => connect.destroy());
  connect.once('error', (error) => {
    const known = failureOf(error, { stage: 'connecting', received: 0 });
    done(known === undefined ? error : new ProxyError(`cannot be reached: ${known.message}`), null);
  });
  connect.end();
}

/** What came of a request: a proxy's own refusals are no answer of the target, and a failure names it. */
export function outcomeBehind<Response extends Pick<ResponseOutcome, 'kind' | 'status' | 'headers'>>(
  proxy: URL | undefined,
  origin: string,
  outcome: Response | FailureOutcome,
): Response | FailureOutcome {
  if (proxy === undefined) return outcome;
  const ofProxy = (what: string) =>
    ({ kind: 'failure', reason: 'proxy', message: `the proxy ${proxy.origin} ${what}` }) as const;
  if (outcome.kind === 'failure') {
    const { reason, message } = outcome;
    if (reason === 'proxy') return ofProxy(message);
    if (isRead(origin) && wasNeverSent(outcome)) return ofProxy(`cannot be reached: ${message}`);
    return { ...outcome, message: `${message} (through the proxy ${proxy.origin})` };
  }
  const { status, headers } = outcome;
  if (!isRead(origin) || (status !== 407 && status < 500)) return outcome;
  if (status === 407) return ofProxy(ASKS_FOR_CREDENTIALS);
  // Proxies have a page for a host that they do not reach, with 500 too. Nobody can tell it from one of the target.
  if (!/^text\/html/i.test(header(headers, 'content-type') ?? '')) return outcome;
  const message = `a page with ${status}, perhaps of the proxy ${proxy.origin}`;
  return { kind: 'failure', reason: 'unavailable', message };
}
