import { createHmac } from 'node:crypto';
import { closeSync, ftruncateSync, openSync, writeFileSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { type Static, Type } from '@sinclair/typebox';
import { TypeCompiler } from '@sinclair/typebox/compiler';
import { exact, type Frozen, number, text, texts, words } from '../../spec/json-schema.ts';
import { PERMISSIONS } from '../../spec/permissions.ts';
import { fileBytes } from '../profile/file-text.ts';
import { UsageError } from '../profile/usage-error.ts';
import { ExchangeShape, ReadingShape } from '../wire/exchange-shape.ts';

const maybe = Type.Optional;

/** The first line of a journal: what a resumed or rejudged run must have in common with the one that wrote it. */
const Header = exact({
  journal: Type.Literal(7),
  runId: Type.String({ pattern: '^[a-z0-9]{4,32}$' }),
  /** Milliseconds since 1970. */
  startedAt: number,
  target: text,
  permissions: Type.Readonly(Type.Array(words(PERMISSIONS))),
  keys: Type.Array(text),
  clockSpeed: Type.Number({ exclusiveMinimum: 0 }),
  only: maybe(texts),
  harnessVersion: text,
  /** By a key's name, what tells its value from another's. */
  keyPrints: maybe(Type.Record(text, text)),
});
export type JournalHeader = Frozen<Static<typeof Header>>;

/** Too short to tell anybody what a key is, long enough to see that it is another one. */
const PRINT_LENGTH = 6;

/** What tells keys of a run apart, and nothing about them. */
export const keyPrint = (runId: string, value: string): string =>
  createHmac('sha256', runId).update(value).digest('hex').slice(0, PRINT_LENGTH);

/** The outcome of a scene as JSON. */
const Outcome = Type.Object({
  scene: text,
  asked: texts,
  outcome: Type.Unknown(),
});
export type StoredOutcome = Frozen<Static<typeof Outcome>>;

const Entry = Type.Union([
  /** A process began to write; the first one is 1. */
  Type.Object({ session: Type.Integer({ minimum: 1 }) }),
  /** A scene began; without an outcome of the same name it was cut off. */
  Type.Object({ playing: text }),
  Type.Object({ exchange: ExchangeShape }),
  Type.Object({ reading: ReadingShape }),
  /** One of many that is kept in full after all: an outcome names it. */
  Type.Object({ kept: ExchangeShape }),
  /** Of a scene that counts by itself: so many uniform exchanges of a key, of which no reading is kept. */
  Type.Object({ tallied: Type.Integer({ minimum: 0 }), key: text }),
  Outcome,
]);

/** A line of a journal after the first. */
export type JournalEntry = Frozen<Static<typeof Entry>>;

const isHeader = TypeCompiler.Compile(Header);
const isEntry = TypeCompiler.Compile(Entry);

/** What a journal held. */
export interface ReadJournal {
  readonly header: JournalHeader;
  /** In the order of writing, up to the first line that is damaged. */
  readonly entries: readonly JournalEntry[];
  /** The number of the last process that wrote. */
  readonly sessions: number;
  /** When the last answer came, by the run's clock; when the run began, where none did. */
  readonly lastAt: number;
  /** Bytes of the file up to the end of what was read, and the check of its last line. */
  readonly end: number;
  readonly check: number;
  /** Where the file is damaged, in one line; undefined where at most its last line was cut off. */
  readonly damage?: string;
}

/** What a long run sends. */
const MOST_BYTES = 64 * 2 ** 20;
/** A target's longest bodies, escaped. */
const MOST_IN_LINE = 4 * 2 ** 20;
/** As many short lines as memory holds. */
const MOST_ENTRIES = 500_000;
const LINE_END = 0x0a;

/** A line holds its entry, and before it a check of it and of all lines before: none can be changed, or missing. */
const LINE = /^\["([0-9a-f]{8})",(.*)\]$/s;

/** An entry as it is written. @param before the check of the line before it, 0 where there is none */
export function lineOf(entry: JournalHeader | JournalEntry, before: number): { line: string; check: number } {
  const text = JSON.stringify(entry);
  const check = crc32(text, before);
  return { line: `["${check.toString(16).padStart(8, '0')}",${text}]\n`, check };
}

/** The entry in a line; undefined where the line is not as it was written. */
function entryIn(line: Buffer, before: number): { entry: unknown; check: number } | undefined {
  const [, digits = '', json = ''] = line.length > MOST_IN_LINE ? [] : (LINE.exec(line.toString()) ?? []);
  const check = Number.parseInt(digits, 16);
  return crc32(json, before) === check ? { entry: JSON.parse(json), check } : undefined;
}

/**
 * Reads a journal back as far as it is as it was written: from a line on that is damaged, nothing is known any more, as
 * if the run had ended there. A last line that a crash cut off is no damage.
 *
 * @throws UsageError where there is none, or none of this version
 */
export function readJournal(file: string): ReadJournal {
  const bytes = fileBytes(file, '--resume and --rejudge need a folder with a journal', MOST_BYTES);
  const entries: JournalEntry[] = [];
  let header: JournalHeader | undefined;
  let damage: string | undefined;
  let [end, check, sessions, number, lastAt] = [0, 0, 1, 0, 0];
  while (end < bytes.length) {
    number += 1;
    const refuse = (problem: string) => new UsageError(`${file}:${number}: ${problem}`);
    const lineEnd = bytes.indexOf(LINE_END, end);
    const read = lineEnd < 0 ? undefined : entryIn(bytes.subarray(end, lineEnd), check);
    if (header === undefined) {
      if (!isHeader.Check(read?.entry))
        throw refuse(
          'this is not the first line of a journal of this version; only the version that began a run goes on with it',
        );
      header = read.entry;
      lastAt = header.startedAt;
    } else if (read === undefined) {
      if (lineEnd >= 0 || bytes.length - end > MOST_IN_LINE)
        damage = `${file}:${number}: damaged; what was written from here on is not known`;
      break;
    } else if (!isEntry.Check(read.entry)) throw refuse('not a journal entry');
    else if (entries.push(read.entry) > MOST_ENTRIES) throw refuse(`more than ${MOST_ENTRIES} entries`);
    else if ('session' in read.entry) sessions = read.entry.session;
    else if ('exchange' in read.entry) lastAt = Math.max(lastAt, read.entry.exchange.receivedAt);
    else if ('reading' in read.entry) lastAt = Math.max(lastAt, read.entry.reading.receivedAt);
    check = read.check;
    end = lineEnd + 1;
  }
  if (header === undefined) throw new UsageError(`${file}:1: it is empty`);
  return { header, entries, sessions, lastAt, end, check, ...(damage === undefined ? {} : { damage }) };
}

/** Everything that is measured, on disk as it happens, one JSON text a line: a run can be resumed or rejudged from it. */
export class Journal {
  readonly #file: number;
  #check = 0;

  /** Starts a journal, or goes on with one behind what was read of it. */
  constructor(file: string, start: JournalHeader | ReadJournal) {
    if ('journal' in start) {
      this.#file = openSync(file, 'w', 0o600);
      this.append(start);
      this.append({ session: 1 });
    } else {
      this.#file = openSync(file, 'a', 0o600);
      // A line that a crash cut off goes, so that it cannot swallow the next one.
      ftruncateSync(this.#file, start.end);
      this.#check = start.check;
      this.append({ session: start.sessions + 1 });
    }
  }

  append(entry: JournalHeader | JournalEntry): void {
    const { line, check } = lineOf(entry, this.#check);
    this.#check = check;
    writeFileSync(this.#file, line);
  }

  close(): void {
    closeSync(this.#file);
  }
}
