import { HARNESS_VERSION } from '../../spec/harness-version.ts';
import { type Access, DIRECT } from './access.ts';
import { Connections } from './connections.ts';
import { HIDDEN_KEYS } from './curl.ts';
import { dispatchOnce, type TimeLimits } from './dispatch-once.ts';
import type { Exchange, HeaderList } from './exchange.ts';
import { outcomeBehind } from './proxy.ts';
import { redactorOf } from './redaction.ts';
import type { RequestSpec } from './requests.ts';
import { BodyBudget, readResponse } from './response-body.ts';

/** What a request says of who sends it. */
export type Authorization =
  /** A key of the profile, sent as bearer token. */
  | { readonly kind: 'key'; readonly name: string; readonly value: string }
  /** Any other value of the Authorization header; `described` is what the record shows where it hides a key. */
  | { readonly kind: 'raw'; readonly header: string; readonly described: string }
  | { readonly kind: 'none' };

export interface ClientRequest extends Omit<RequestSpec, 'again'> {
  readonly authorization: Authorization;
}

export interface HttpClient {
  /**
   * Makes exactly one exchange: no redirect is followed, nothing is sent twice, no cookie is kept. Whatever the target
   * or the network does is an outcome; it rejects only when the harness itself cannot go on.
   *
   * @param signal ends the exchange at once with the failure `interrupted`
   */
  exchange(
    request: ClientRequest,
    record: Pick<Exchange, 'id' | 'sentBy' | 'intent'>,
    signal?: AbortSignal,
  ): Promise<Exchange>;
  /** Closes all connections; an exchange under way fails with `interrupted`. */
  close(): Promise<void>;
}

export interface ClientOptions {
  /** http or https, with or without a trailing slash; must hold no credentials. */
  readonly baseUrl: URL | string;
  /** The harness's clock: milliseconds since 1970. */
  now(): number;
  /** Values of all keys; they and their near misses enter no record, see redaction.ts. */
  readonly secrets: Iterable<string>;
  /** Defaults: connect 10 s, headers 15 s, body 20 s. */
  readonly timeouts?: Partial<TimeLimits> | undefined;
  /** How the target is reached; by default directly. */
  readonly access?: Access | undefined;
}

const DEFAULT_LIMITS: TimeLimits = { connect: 10_000, headers: 15_000, body: 20_000 };
/** The client's own, of a request that says nothing else. */
const OWN_HEADERS: HeaderList = [
  ['accept', 'application/json'],
  ['accept-encoding', 'identity'],
  ['user-agent', `petstore-harness/${HARNESS_VERSION}`],
];

/**
 * An HTTP client for one target. Connections are kept for a second, or as long as the server says, until one was lost
 * by that; of more than 60 exchanges at a time, the rest waits.
 */
export function createClient(options: ClientOptions): HttpClient {
  const base = new URL(options.baseUrl);
  const basePath = base.pathname.replace(/\/+$/, '');
  const { access = DIRECT } = options;
  const redact = redactorOf([...options.secrets, ...access.secrets]);
  const limits = { ...DEFAULT_LIMITS, ...options.timeouts };
  const budget = new BodyBudget();
  const connections = new Connections({
    origin: base.origin,
    // The exchange has failed by then; this only frees the socket.
    connectTimeout: limits.connect + 1000,
    access,
  });
  const own = OWN_HEADERS.filter(
    ([name]) => !access.headers.some((header) => header.name.toLowerCase() === name),
  );
  const granted = access.headers.map(
    ({ name, value, env }): Guarded => [name, value, env && `[value of ${env}]`],
  );
  return {
    async exchange(request, record, signal) {
      const { authorization, operation, method, path, body } = request;
      const headers = headersOf(request, own);
      const guarded = [...granted, ...credentials(authorization)];
      const sent = guarded.map(([name, value]) => [name, value] as const);
      const key = authorization.kind === 'key' ? authorization.name : null;
      const connection = await connections.take();
      const { sentAt, receivedAt, ...dispatched } = await dispatchOnce(
        connection,
        { method, path: basePath + path, headers: [...headers, ...sent], body },
        { limits, budget, now: options.now, signal },
      ).finally(() => connections.giveBack(connection));
      const outcome = outcomeBehind(access.proxy, base.origin, dispatched.outcome);
      return {
        ...record,
        key,
        sentAt,
        receivedAt,
        request: {
          operation,
          method,
          path: redact(path),
          headers: [
            ...headers.map(([name, value]) => [name, redact(value)] as const),
            ...guarded.map(([name, value, shown = redact(value)]) => [name, shown] as const),
          ],
          ...(body === undefined ? {} : { body: redact(body) }),
        },
        outcome:
          outcome.kind === 'response'
            ? readResponse({ ...outcome, isHttp2: connection.keeping.isHttp2 }, budget, redact)
            : { ...outcome, message: redact(outcome.message) },
      };
    },
    close: () => connections.close(),
  };
}

function headersOf({ headers = [], acceptsAnything }: ClientRequest, own: HeaderList): HeaderList {
  const given = new Set(headers.map(([name]) => name.toLowerCase()));
  if (acceptsAnything === true) given.add('accept');
  return [...own.filter(([name]) => !given.has(name)), ...headers];
}

/** A header as it is sent, and what the record shows in its place. */
type Guarded = readonly [name: string, sent: string, shown?: string | undefined];

function credentials(by: Authorization): Guarded[] {
  if (by.kind === 'none') return [];
  if (by.kind === 'raw')
    return [['authorization', by.header, by.described in HIDDEN_KEYS ? by.described : undefined]];
  return [['authorization', `Bearer ${by.value}`, `Bearer [key ${by.name}]`]];
}
