import { closeSync, existsSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import type { Exchange } from './exchange.ts';
import { PERMISSIONS, type Permission } from './verdict.ts';

/** The first line of a journal: what a resumed or re-judged run must have in common with the one that wrote it. */
export interface JournalHeader {
  readonly journal: 1;
  readonly runId: string;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly target: string;
  readonly permissions: readonly Permission[];
  readonly keys: readonly string[];
  readonly clockSpeed: number;
  readonly only?: readonly string[];
  /** Which version began the run; journals of the first versions do not say. */
  readonly harnessVersion?: string;
}

const ajv = new Ajv({ strict: true, strictTypes: false });
const text = { type: 'string' } as const;
const headerList = {
  type: 'array',
  items: { type: 'array', items: text, minItems: 2, maxItems: 2 },
} as const;

const isHeader = ajv.compile<JournalHeader>({
  type: 'object',
  required: ['journal', 'runId', 'startedAt', 'target', 'permissions', 'keys', 'clockSpeed'],
  additionalProperties: false,
  properties: {
    journal: { const: 1 },
    runId: { type: 'string', pattern: '^[a-z0-9]{4,32}$' },
    startedAt: { type: 'number' },
    target: text,
    permissions: { type: 'array', items: { enum: [...PERMISSIONS] } },
    keys: { type: 'array', items: text },
    clockSpeed: { type: 'number', exclusiveMinimum: 0 },
    only: { type: 'array', items: text },
    harnessVersion: text,
  },
});

const isExchange = ajv.compile<Exchange>({
  type: 'object',
  required: ['id', 'sentBy', 'key', 'sentAt', 'receivedAt', 'request', 'outcome'],
  properties: {
    id: text,
    sentBy: text,
    key: { type: ['string', 'null'] },
    sentAt: { type: 'number' },
    receivedAt: { type: 'number' },
    request: {
      type: 'object',
      required: ['operation', 'method', 'path', 'headers'],
      properties: {
        operation: { enum: ['listPets', 'createPet', 'getPet', 'other'] },
        method: text,
        path: text,
        headers: headerList,
        body: text,
      },
    },
    outcome: {
      type: 'object',
      required: ['kind'],
      oneOf: [
        {
          required: ['status', 'headers', 'body', 'bodyBytes'],
          properties: {
            kind: { const: 'response' },
            status: { type: 'integer' },
            headers: headerList,
            body: text,
            bodyBytes: { type: 'integer' },
            bodyProblem: { enum: ['invalid-utf8', 'undecodable-encoding', 'truncated-in-record'] },
          },
        },
        {
          required: ['reason', 'message'],
          properties: { kind: { const: 'failure' }, reason: text, message: text },
        },
      ],
    },
  },
});

/** A request that was about to be sent. */
interface Begun {
  readonly begun: string;
  readonly key: string | null;
  readonly decidedAt?: number;
}

const isBegun = ajv.compile<Begun>({
  type: 'object',
  required: ['begun', 'key'],
  properties: { begun: text, key: { type: ['string', 'null'] }, decidedAt: { type: 'number' } },
});

/** What a journal held; a line that a crash cut off is left out. */
export type JournalContent =
  | {
      readonly ok: true;
      readonly header: JournalHeader;
      readonly exchanges: ReadonlyMap<string, Exchange>;
      /** By key name, how many requests were begun and have no exchange. */
      readonly lost: ReadonlyMap<string, number>;
      /** Of each key the first request after a place where a process ended: others right before it may be lost. */
      readonly resumedWith: ReadonlySet<string>;
      /** By exchange, when its check last looked at the clock before: what that request was decided by. */
      readonly decidedAt: ReadonlyMap<string, number>;
    }
  | { readonly ok: false; readonly problem: string };

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** Reads a journal back. A line that is no JSON was cut off by a crash: its exchange was in flight and is lost. */
export function readJournal(file: string): JournalContent {
  if (!existsSync(file))
    return { ok: false, problem: `${file}: no journal there; --resume and --rejudge need one` };
  const lines = readFileSync(file, 'utf8').split('\n');
  const header = parseLine(lines[0] ?? '');
  if (!isHeader(header)) return { ok: false, problem: `${file}:1: not the first line of a journal` };
  const exchanges = new Map<string, Exchange>();
  const begun: Begun[] = [];
  const resumedWith = new Set<string>();
  const decidedAt = new Map<string, number>();
  // The keys that were used since a process went on with the journal; undefined while the first one wrote it.
  let keysSince: Set<string | null> | undefined;
  for (const [index, line] of lines.entries()) {
    if (index === 0) continue;
    const exchange = parseLine(line);
    if (line === '') keysSince = new Set();
    if (exchange === undefined) continue;
    if (isBegun(exchange)) {
      begun.push(exchange);
      if (exchange.decidedAt !== undefined) decidedAt.set(exchange.begun, exchange.decidedAt);
      if (keysSince?.has(exchange.key) === false) resumedWith.add(exchange.begun);
      keysSince?.add(exchange.key);
      continue;
    }
    if (!isExchange(exchange)) return { ok: false, problem: `${file}:${index + 1}: not an exchange` };
    exchanges.set(exchange.id, exchange);
  }
  const lost = new Map<string, number>();
  const count = (key: string | null, by: number) => {
    if (key !== null) lost.set(key, (lost.get(key) ?? 0) + by);
  };
  for (const { key } of begun) count(key, 1);
  for (const { key } of exchanges.values()) count(key, -1);
  return { ok: true, header, exchanges, lost, resumedWith, decidedAt };
}

/**
 * Every exchange on disk as soon as it is over, one JSON text a line: what was measured survives a crash, and a run
 * can be resumed or judged again from it.
 */
export class Journal {
  readonly #file: number;

  /** Starts a journal, or goes on with one whose header was read with `readJournal`. */
  constructor(file: string, header: JournalHeader | undefined) {
    this.#file = openSync(file, header === undefined ? 'a' : 'w', 0o600);
    // A line that a crash cut off is ended here, so that it cannot swallow the next one; an empty line marks the place.
    writeFileSync(this.#file, header === undefined ? '\n\n' : `${JSON.stringify(header)}\n`);
  }

  /**
   * Notes that a request is about to be sent: without an exchange of the same id it was lost in a crash.
   *
   * @param decidedAt when its check last looked at the run's clock, if it did since its request before
   */
  begin(id: string, key: string | null, decidedAt?: number): void {
    writeFileSync(this.#file, `${JSON.stringify({ begun: id, key, decidedAt })}\n`);
  }

  append(exchange: Exchange): void {
    writeFileSync(this.#file, `${JSON.stringify(exchange)}\n`);
  }

  close(): void {
    closeSync(this.#file);
  }
}
