/** What clients of somebody else's and a target said to each other, as exchanges: keys become names. */
import { OPERATION_NAMES, OPERATIONS, type OperationName } from '../../spec/operations.ts';
import type { Dispatched, WireRequest, WireResponse } from './connections.ts';
import { type Exchange, header, headerValues } from './exchange.ts';
import { REDACTED, type Redact, redactorOf } from './redaction.ts';
import { BodyBudget, LARGEST_BODY, readResponse } from './response-body.ts';

/** A request of a client and the response to it, as they passed by. */
export interface Observed extends WireRequest, Omit<Dispatched, 'outcome'> {
  /** Path and query, relative to the base address. */
  readonly path: string;
  readonly body: string;
  readonly response: WireResponse;
  /** Whether the record may lack the Authorization that was sent: browsers leave it out. */
  readonly mayLackKey?: true;
  readonly lacksBody?: true;
}

/** The request headers that a record holds: any other may be a secret of the client. */
const SHOWN: ReadonlySet<string> = new Set(['accept', 'content-type', 'user-agent']);
/** What asks for another answer than the document's: 304, 206, 417. */
const UNUSUAL = /^(if-.*|range|expect|upgrade|content-encoding|x-(http-)?method(-override)?)$/i;
const JSON_ACCEPTED = /application\/(json|\*)|\*\/\*/i;
/** More credentials than a team has have one name together. */
const MOST_UNKNOWN = 1000;

const PATTERNS = OPERATION_NAMES.map((name) => {
  const { method, path } = OPERATIONS[name];
  return { name, method, path: new RegExp(`^${path.replace(/\{\w+\}/, '[^/]+')}$`) };
});

/** The operation that a request asks for; undefined where there is anything in it that the document does not know. */
export function operationAsked({
  method,
  path,
  headers,
}: Pick<Observed, 'method' | 'path' | 'headers'>): OperationName | undefined {
  const [pathname = '', query = ''] = path.split('?', 2);
  const operation = PATTERNS.find((one) => one.method === method && one.path.test(pathname))?.name;
  if (operation === undefined || headers.some(([name]) => UNUSUAL.test(name))) return undefined;
  const asked = [...new URLSearchParams(query).keys()];
  const known: readonly string[] = OPERATIONS[operation].query;
  const isPlain = asked.every((name, index) => known.includes(name) && asked.indexOf(name) === index);
  const accepted = headerValues(headers, 'accept');
  const isJson =
    operation !== 'createPet' || /^application\/json\b/i.test(header(headers, 'content-type') ?? '');
  const takesJson = accepted.length === 0 || accepted.some((type) => JSON_ACCEPTED.test(type));
  return isPlain && isJson && takesJson ? operation : undefined;
}

/** Who sends an Authorization: the name of the key in it, and what keeps it out of records. */
interface Client {
  readonly key: string | null;
  readonly redact: Redact;
}

/** Names the keys of clients, and makes exchanges of what they said. */
export class Observer {
  readonly #hide: Redact;
  readonly #clients: Map<string, Client>;
  #unknown = 0;
  #count = 0;

  /**
   * @param values the keys of the profile by their names
   * @param secrets what enters no record beside them
   */
  constructor(values: ReadonlyMap<string, string>, secrets: readonly string[] = []) {
    const redact = redactorOf([...values.values(), ...secrets]);
    this.#hide = redact;
    this.#clients = new Map([...values].map(([key, value]) => [`Bearer ${value}`, { key, redact }]));
  }

  /** The exchange; undefined where the document does not say how such a request is answered, or the answer is too large. */
  exchange(observed: Observed): Exchange | undefined {
    const { method, path, headers, body, sentAt, receivedAt, response, mayLackKey } = observed;
    const operation = operationAsked(observed);
    const isTooLong = Math.max(body.length, response.bytes.length) > LARGEST_BODY;
    if (operation === undefined || isTooLong) return undefined;
    const authorization = header(headers, 'authorization')?.replace(/^Bearer +/i, 'Bearer ');
    const { key: sent, redact } = this.#clientOf(authorization);
    const key = sent ?? (mayLackKey === true ? 'not-recorded' : null);
    // Other credentials than a bearer's name none.
    const named = authorization === undefined ? key : sent;
    const outcome = readResponse(response, new BodyBudget(), redact);
    if (outcome.kind === 'failure') return undefined;
    this.#count += 1;
    const shown = headers.filter(([name]) => SHOWN.has(name.toLowerCase()));
    return {
      id: `traffic#${this.#count}`,
      sentBy: 'traffic',
      intent: 'foreign',
      key,
      sentAt,
      receivedAt,
      request: {
        operation,
        method,
        path: redact(path),
        headers: [
          ...shown.map(([name, value]) => [name, redact(value)] as const),
          ...(named === null ? [] : [['authorization', `Bearer [key ${named}]`] as const]),
        ],
        ...(body === '' ? {} : { body: redact(body) }),
      },
      outcome: {
        ...outcome,
        ...(observed.lacksBody === true ? { bodyProblem: 'truncated-in-record' as const } : {}),
        headers: outcome.headers.map(([name, value]) => [
          name,
          /^set-cookie$/i.test(name) ? REDACTED : value,
        ]),
      },
    };
  }

  #clientOf(authorization = ''): Client {
    const known = this.#clients.get(authorization);
    if (known !== undefined) return known;
    // What a client sends as its credentials is a secret, whether it is a key or not.
    const redact = redactorOf([authorization.slice(authorization.indexOf(' ') + 1)]);
    const isOneOfMany = this.#unknown === MOST_UNKNOWN;
    if (!isOneOfMany) this.#unknown += 1;
    const name = isOneOfMany ? 'unknown' : `unknown-${this.#unknown}`;
    const client = {
      key: /^Bearer \S+$/.test(authorization) ? name : null,
      redact: (text: string) => redact(this.#hide(text)),
    };
    if (!isOneOfMany) this.#clients.set(authorization, client);
    return client;
  }
}
