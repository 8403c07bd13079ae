import { closeSync, existsSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { Ajv } from 'ajv';
import type { Exchange } from '../wire/exchange.ts';
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
            bodyProblem: {
              enum: ['invalid-utf8', 'undecodable-encoding', 'unknown-encoding', 'truncated-in-record'],
            },
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
      /**
       * Ids of those requests, the target may have done what they asked; each with the number of exchanges that were on
       * record when the process that sent it ended.
       */
      readonly unanswered: ReadonlyMap<string, number>;
      /**
       * Of each key the first request after a place where a process ended, or a line is damaged: others right before it
       * may be lost.
       */
      readonly resumedWith: ReadonlySet<string>;
      /** Ids of exchanges during which a request of the same key was under way whose answer is lost. */
      readonly besideLost: ReadonlySet<string>;
      /** By exchange, when its check last looked at the clock before: what that request was decided by. */
      readonly decidedAt: ReadonlyMap<string, number>;
      /** What costs no more than an exchange and is to be known all the same, each in one line with file and line. */
      readonly warnings: readonly string[];
    }
  | { readonly ok: false; readonly problem: string };

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** Whether a line that is no JSON was cut off by the end of a process: the next one ended it and left an empty line. */
const wasCutOff = (lines: readonly string[], index: number) =>
  lines[index + 1] === '' && index + 1 < lines.length - 1;

/** The requests of one key that are under way, and the answers that came since the first of them was sent. */
class UnderWay {
  /** By id, how many requests were begun before. */
  readonly #begun = new Map<string, number>();
  #answers: { readonly id: string; readonly after: number }[] = [];
  #count = 0;

  begin(id: string): void {
    this.#begun.set(id, this.#count);
    this.#count += 1;
  }

  answer(id: string): void {
    this.#begun.delete(id);
    this.#answers.push({ id, after: this.#count });
    const [first = this.#count] = this.#begun.values();
    if ((this.#answers[0]?.after ?? first) <= first) {
      this.#answers = this.#answers.filter(({ after }) => after > first);
    }
  }

  lost(): readonly string[] {
    return [...this.#begun.keys()];
  }

  /** The answers by which a lost request may have been counted before. */
  besideLost(): readonly string[] {
    return this.#begun.size === 0 ? [] : this.#answers.map(({ id }) => id);
  }
}

/** The lines of a journal by what they hold, each with its number. */
class JournalLines {
  readonly exchanges = new Map<string, Exchange>();
  readonly resumedWith = new Set<string>();
  readonly besideLost = new Set<string>();
  readonly decidedAt = new Map<string, number>();
  readonly warnings: string[] = [];
  readonly #file: string;
  readonly #begun: Begun[] = [];
  /** Requests that a process began and left without an exchange, each with the exchanges on record at its end. */
  readonly #left = new Map<string, number>();
  readonly #underWay = new Map<string | null, UnderWay>();
  readonly #lineOf = new Map<string, number>();
  /** The keys that were used since a process went on with the journal; undefined while the first one wrote it. */
  #keysSince: Set<string | null> | undefined;

  constructor(file: string) {
    this.#file = file;
  }

  /** Where a process went on with the journal, or the journal is over. */
  processEnded(): void {
    this.#keysSince = new Set();
    for (const underWay of this.#underWay.values()) {
      for (const id of underWay.lost()) this.#left.set(id, this.exchanges.size);
      for (const id of underWay.besideLost()) this.besideLost.add(id);
    }
    this.#underWay.clear();
  }

  unreadable(number: number, why: string): void {
    this.warnings.push(`${this.#file}:${number}: ${why}; an exchange that it held counts as lost`);
    // Whatever counts requests knows of it as it knows of those that a crash cut off.
    this.#keysSince = new Set();
  }

  /** @returns what is wrong with a line that does not belong into the journal of one run */
  take(entry: unknown, number: number): string | undefined {
    const place = `${this.#file}:${number}:`;
    if (isBegun(entry)) this.#begin(entry);
    else if (isHeader(entry))
      return `${place} another run begins here, ${entry.runId}; a journal is of one run`;
    else if (!isExchange(entry)) return `${place} not an exchange`;
    else return this.#take(entry, number, place);
    return undefined;
  }

  #begin(begun: Begun): void {
    this.#begun.push(begun);
    const underWay = this.#underWay.get(begun.key) ?? new UnderWay();
    this.#underWay.set(begun.key, underWay);
    underWay.begin(begun.begun);
    if (begun.decidedAt !== undefined) this.decidedAt.set(begun.begun, begun.decidedAt);
    if (this.#keysSince?.has(begun.key) === false) this.resumedWith.add(begun.begun);
    this.#keysSince?.add(begun.key);
  }

  #take(exchange: Exchange, number: number, place: string): string | undefined {
    const before = this.exchanges.get(exchange.id);
    this.#underWay.get(exchange.key)?.answer(exchange.id);
    if (before === undefined) {
      this.exchanges.set(exchange.id, exchange);
      this.#lineOf.set(exchange.id, number);
      return undefined;
    }
    const again = `${exchange.id}, which line ${this.#lineOf.get(exchange.id)} holds`;
    // Whose answer is whose nobody can tell: two processes went on with the run at the same time, or two runs are mixed.
    if (!isDeepStrictEqual(exchange, before))
      return `${place} another exchange ${again}; keep the one that is this run’s`;
    this.warnings.push(`${place} once more ${again}; it counts once`);
    return undefined;
  }

  unanswered(): Map<string, number> {
    return new Map([...this.#left].filter(([id]) => !this.exchanges.has(id)));
  }

  lost(): Map<string, number> {
    const lost = new Map<string, number>();
    const begun = new Set<string>();
    const count = (key: string | null, by: number) => {
      if (key !== null) lost.set(key, (lost.get(key) ?? 0) + by);
    };
    for (const { begun: id, key } of this.#begun) {
      begun.add(id);
      count(key, 1);
    }
    // One whose beginning is damaged was not lost all the same.
    for (const { id, key } of this.exchanges.values()) if (begun.has(id)) count(key, -1);
    return lost;
  }
}

/**
 * Reads a journal back. A line that was cut off by a crash was in flight: its exchange is lost. So is one whose line is
 * damaged otherwise. Either is told; what a run that went on has made good is not.
 */
export function readJournal(file: string): JournalContent {
  if (!existsSync(file))
    return { ok: false, problem: `${file}: no journal there; --resume and --rejudge need one` };
  const lines = readFileSync(file, 'utf8').split('\n');
  const header = parseLine(lines[0] ?? '');
  if (!isHeader(header)) return { ok: false, problem: `${file}:1: not the first line of a journal` };
  const read = new JournalLines(file);
  for (const [index, line] of lines.entries()) {
    if (index === 0) continue;
    if (line === '') {
      read.processEnded();
      continue;
    }
    const entry = parseLine(line);
    if (entry === undefined) {
      const isLast = index === lines.length - 1;
      if (!wasCutOff(lines, index)) read.unreadable(index + 1, isLast ? 'cut off' : 'cannot be read');
      continue;
    }
    const problem = read.take(entry, index + 1);
    if (problem !== undefined) return { ok: false, problem };
  }
  read.processEnded();
  const { exchanges, resumedWith, besideLost, decidedAt, warnings } = read;
  const [lost, unanswered] = [read.lost(), read.unanswered()];
  return { ok: true, header, exchanges, lost, unanswered, resumedWith, besideLost, decidedAt, warnings };
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
