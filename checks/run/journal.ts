import { closeSync, existsSync, openSync, writeFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { Ajv } from 'ajv';
import { ownSchemas } from '../../spec/own-schemas.ts';
import { fileText } from '../profile/file-text.ts';
import { PERMISSIONS, type Permission } from '../profile/permissions.ts';
import type { Exchange } from '../wire/exchange.ts';
import type { RateReading } from '../wire/rate-headers.ts';

/** The first line of a journal: what a resumed or rejudged run must have in common with the one that wrote it. */
export interface JournalHeader {
  readonly journal: 2;
  readonly runId: string;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly target: string;
  readonly permissions: readonly Permission[];
  readonly keys: readonly string[];
  readonly clockSpeed: number;
  readonly only?: readonly string[];
  /** Which version began the run. */
  readonly harnessVersion: string;
}

/** What a scene came to: its outcome as JSON, or why it could not be played to its end. */
export interface StoredOutcome {
  readonly scene: string;
  readonly outcome?: unknown;
  readonly unsettled?: string;
  /** Ids of exchanges that show why. */
  readonly evidence?: readonly string[];
}

/** A line of a journal after the first. */
export type JournalEntry =
  /** A process began to write; the first one is 1. */
  | { readonly session: number }
  /** A scene began; without an outcome of the same name it was cut off. */
  | { readonly playing: string }
  | { readonly exchange: Exchange }
  | { readonly reading: RateReading }
  /** One of many that is kept in full after all: an outcome names it. */
  | { readonly kept: Exchange }
  /** Of a scene that counts by itself: so many uniform exchanges of a key, of which no reading is kept. */
  | { readonly tallied: number; readonly key: string }
  | StoredOutcome;

const ajv = new Ajv({ ...ownSchemas, strict: true, strictTypes: false, strictRequired: false });
const text = { type: 'string' } as const;
const number = { type: 'number' } as const;
const texts = { type: 'array', items: text } as const;
const objectWith = (...required: string[]) => ({ type: 'object', required }) as const;

const isHeader = ajv.compile<JournalHeader>({
  ...objectWith(
    'journal',
    'runId',
    'startedAt',
    'target',
    'permissions',
    'keys',
    'clockSpeed',
    'harnessVersion',
  ),
  additionalProperties: false,
  properties: {
    journal: { const: 2 },
    runId: { type: 'string', pattern: '^[a-z0-9]{4,32}$' },
    startedAt: number,
    target: text,
    permissions: { type: 'array', items: { enum: [...PERMISSIONS] } },
    keys: texts,
    clockSpeed: { type: 'number', exclusiveMinimum: 0 },
    only: texts,
    harnessVersion: text,
  },
});

const exchange = {
  ...objectWith('id', 'sentBy', 'key', 'sentAt', 'receivedAt', 'request', 'outcome'),
  properties: {
    request: objectWith('operation', 'method', 'path', 'headers'),
    outcome: {
      anyOf: [objectWith('status', 'headers', 'body', 'bodyBytes'), objectWith('reason', 'message')],
    },
  },
};
const reading = objectWith('id', 'key', 'operation', 'sentAt', 'receivedAt', 'path', 'status');

/** Whether a line is an entry by its fields: what they hold, the harness wrote. */
const isEntry = ajv.compile<JournalEntry>({
  type: 'object',
  oneOf: [
    { required: ['session'], properties: { session: { type: 'integer' } } },
    { required: ['playing'], properties: { playing: text } },
    { required: ['exchange'], properties: { exchange } },
    { required: ['reading'], properties: { reading } },
    { required: ['kept'], properties: { kept: exchange } },
    { required: ['tallied', 'key'], properties: { tallied: { type: 'integer' }, key: text } },
    { required: ['scene'], properties: { scene: text, outcome: {}, unsettled: text, evidence: texts } },
  ],
});

/** What a journal held. */
export type JournalContent =
  | {
      readonly ok: true;
      readonly header: JournalHeader;
      /** In the order of writing. */
      readonly entries: readonly JournalEntry[];
      /** The number of the last process that wrote. */
      readonly sessions: number;
      /** Lines that cannot be read, each in one line with file and line. */
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

/**
 * Reads a journal back. A line that a crash cut off, or that is damaged otherwise, is left out and told: a scene whose
 * outcome it held, or whose outcome names an exchange that it held, is played again.
 */
export function readJournal(file: string): JournalContent {
  if (!existsSync(file))
    return { ok: false, problem: `${file}: there is no journal; --resume and --rejudge need one` };
  try {
    return entriesIn(file, fileText(file));
  } catch (error) {
    return { ok: false, problem: `${file}: ${error instanceof Error ? error.message : String(error)}` };
  }
}

function entriesIn(file: string, content: string): JournalContent {
  const [first = '', ...lines] = content.split('\n');
  const header = parseLine(first);
  if (!isHeader(header))
    return { ok: false, problem: `${file}:1: this is not the first line of a journal of this version` };
  const entries: JournalEntry[] = [];
  const warnings: string[] = [];
  const seen = new Map<string, { readonly line: number; readonly entry: JournalEntry }>();
  let sessions = 1;
  for (const [index, text] of lines.entries()) {
    if (text === '') continue;
    const line = index + 2;
    const refuse = (problem: string) => ({ ok: false, problem: `${file}:${line}: ${problem}` }) as const;
    const warn = (warning: string) => warnings.push(`${file}:${line}: ${warning}`);
    const entry = parseLine(text);
    if (entry === undefined) {
      // The process that went on after a crash ended the line that was cut off with an empty one.
      const wasCutOff = lines[index + 1] === '' && index + 1 < lines.length - 1;
      if (!wasCutOff) warn('cannot be read; what it held counts as lost');
      continue;
    }
    if (isHeader(entry)) return refuse(`another run begins here, ${entry.runId}; a journal holds one run`);
    if (!isEntry(entry)) return refuse('not a journal entry');
    if ('session' in entry) sessions = entry.session;
    const id = idOf(entry);
    const before = id === undefined ? undefined : seen.get(id);
    if (before !== undefined) {
      const again = `${id}, as on line ${before.line}`;
      // Whose answer is whose nobody can tell: two processes resumed the run at the same time, or two runs are mixed.
      if (!isDeepStrictEqual(before.entry, entry))
        return refuse(`another exchange ${again}; keep the one that belongs to this run`);
      warn(`a repetition of ${again}; it counts once`);
      continue;
    }
    if (id !== undefined) seen.set(id, { line, entry });
    entries.push(entry);
  }
  return { ok: true, header, entries, sessions, warnings };
}

const idOf = (entry: JournalEntry): string | undefined =>
  'exchange' in entry ? entry.exchange.id : 'reading' in entry ? entry.reading.id : undefined;

/** Everything that is measured, on disk as it happens, one JSON text a line: a run can be resumed or rejudged from it. */
export class Journal {
  readonly #file: number;

  /**
   * Starts a journal, or goes on with one.
   *
   * @param header undefined where the file has one
   */
  constructor(file: string, header: JournalHeader | undefined, session: number) {
    this.#file = openSync(file, header === undefined ? 'a' : 'w', 0o600);
    // A line that a crash cut off is ended here, so that it cannot swallow the next one.
    if (header === undefined) writeFileSync(this.#file, '\n\n');
    else this.append(header);
    this.append({ session });
  }

  append(entry: JournalHeader | JournalEntry): void {
    writeFileSync(this.#file, `${JSON.stringify(entry)}\n`);
  }

  close(): void {
    closeSync(this.#file);
  }
}
