import { appendFileSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { reading } from '../limits/testing/simulated-limits.ts';
import { UsageError } from '../profile/usage-error.ts';
import { answered } from '../wire/testing/answered.ts';
import { Journal, type JournalEntry, readJournal } from './journal.ts';
import { JOURNAL_HEADER, journalText } from './testing/stored-run.ts';

const ENTRIES: readonly JournalEntry[] = [
  { playing: 'lists' },
  { exchange: { ...answered({ id: 'lists#1', body: '[{"name":"犬\\u0000\\"]\n"}]' }), intent: 'fill' } },
  {
    exchange: {
      ...answered({ id: 'lists#2', key: null }),
      outcome: { kind: 'failure', reason: 'reset', message: 'the connection was reset' },
    },
  },
  { reading: { ...reading(), id: 'burst#3' } },
  { kept: answered({ id: 'burst#3', bodyProblem: 'invalid-utf8' }) },
  { tallied: 48, key: 'free-1' },
  { scene: 'lists', asked: ['service'], outcome: { all: { $: 'exchange', name: 'lists#1' } } },
  { scene: 'empty', asked: [], outcome: { $: 'none' } },
];
/** What is undefined is not written. */
const STORED: readonly unknown[] = JSON.parse(JSON.stringify([{ session: 1 }, ...ENTRIES]));

/** A journal with these entries. */
function written(t: Test): string {
  const file = join(t.testdir(), 'journal.ndjson');
  const journal = new Journal(file, JOURNAL_HEADER);
  for (const entry of ENTRIES) journal.append(entry);
  journal.close();
  return file;
}

t.test('a journal is read back as it was written, and is its owner’s alone', async (t) => {
  const file = written(t);
  const { header, entries, sessions, damage } = readJournal(file);
  t.strictSame(
    { header, entries, sessions, damage },
    { header: JOURNAL_HEADER, entries: STORED, sessions: 1, damage: undefined },
  );
  t.equal(statSync(file).mode & 0o777, 0o600);
  for (const line of readFileSync(file, 'utf8').trimEnd().split('\n')) t.type(JSON.parse(line), Array);
});

t.test('a later process goes on where the journal ends, and a line that was cut off goes', async (t) => {
  const file = written(t);
  truncateSync(file, statSync(file).size - 7);
  const cut = readJournal(file);
  t.strictSame([cut.entries, cut.damage], [STORED.slice(0, -1), undefined]);
  const journal = new Journal(file, cut);
  journal.append({ playing: 'lists' });
  journal.close();
  const again = readJournal(file);
  t.match(again, { sessions: 2, damage: undefined });
  t.strictSame(again.entries.slice(-3), [STORED.at(-2), { session: 2 }, { playing: 'lists' }]);
});

function readOrRefused(file: string) {
  try {
    return readJournal(file);
  } catch (error) {
    if (error instanceof UsageError) return undefined;
    throw error;
  }
}

t.test('wherever a journal is cut or changed, what was before it is read, and nothing else', async (t) => {
  const file = written(t);
  const whole = readFileSync(file);
  const lineAt = (place: number) => whole.subarray(0, place).filter((byte) => byte === 0x0a).length + 1;
  const places = fc.nat(whole.length - 1);
  const damages = fc.oneof(
    places.map((place) => ({ place, bytes: whole.subarray(0, place) })),
    fc.tuple(places, fc.integer({ min: 1, max: 255 })).map(([place, change]) => {
      const bytes = Buffer.from(whole);
      bytes[place] = (bytes[place] ?? 0) ^ change;
      return { place, bytes };
    }),
    fc.tuple(places, fc.integer({ min: 1, max: 400 })).map(([place, length]) => ({
      place,
      bytes: Buffer.concat([whole.subarray(0, place), whole.subarray(place + length)]),
    })),
    fc.tuple(places, fc.uint8Array({ minLength: 1, maxLength: 9 })).map(([place, more]) => ({
      place,
      bytes: Buffer.concat([whole.subarray(0, place), more, whole.subarray(place)]),
    })),
  );
  fc.assert(
    fc.property(damages, ({ place, bytes }) => {
      writeFileSync(file, bytes);
      const line = lineAt(place);
      const content = readOrRefused(file);
      if (content === undefined) return line === 1 || place === 0;
      const count = content.entries.length;
      t.strictSame(content.entries, STORED.slice(0, count));
      // Bytes that are put in, or cut out, may be the same as those beside them.
      return (
        count >= line - 2 &&
        (content.damage === undefined || content.damage.startsWith(`${file}:${count + 2}: `))
      );
    }),
    { numRuns: 600 },
  );
});

t.test('lines that are missing, twice or of another run are damage too', async (t) => {
  const file = written(t);
  const lines = readFileSync(file, 'utf8').split('\n');
  for (const changed of [
    lines.toSpliced(4, 1),
    lines.toSpliced(4, 0, lines[3] ?? ''),
    lines.toSpliced(4, 0, lines[0] ?? ''),
  ]) {
    writeFileSync(file, changed.join('\n'));
    const { damage, entries } = readJournal(file);
    t.match(damage, `${file}:5: damaged`);
    t.strictSame(entries, STORED.slice(0, 3));
  }
});

t.test('what is no journal, or none of this version, is said with file and line', async (t) => {
  const folder = t.testdir();
  const file = join(folder, 'journal.ndjson');
  const exchange = answered();
  for (const [text, problem] of [
    ['', /: it is empty$/],
    ['\n'.repeat(1000), /:1: this is not the first line/],
    ['[', /:1: this is not the first line/],
    ['{"journal":4}\n', /:1: this is not the first line of a journal of this version/],
    [journalText([], { journal: 4 as never }), /:1: this is not the first line/],
    [journalText([], { keys: 'free-1' as never }), /:1: this is not the first line/],
    ...[
      {},
      [],
      null,
      { exchange: { id: 'a' } },
      { exchange: { ...exchange, sentAt: '1' } },
      { exchange: { ...exchange, request: { ...exchange.request, headers: [['a']] } } },
      { exchange: { ...exchange, outcome: { ...exchange.outcome, status: 'ok' } } },
      { reading: { ...reading(), receivedAt: null } },
      { tallied: -1, key: 'free-1' },
      { scene: 'lists', asked: 'all' },
      { session: 0 },
    ].map((entry) => [journalText([{ session: 1 }, entry]), /:3: not a journal entry/] as const),
  ] as const) {
    writeFileSync(file, text);
    t.throws(() => readJournal(file), { name: 'UsageError', message: problem }, text.slice(-80));
  }
  for (const none of [join(folder, 'none'), join(file, 'none')])
    t.throws(() => readJournal(none), { message: /; --resume and --rejudge need a folder with a journal$/ });
  t.throws(() => readJournal(folder), { message: /is not a regular file/ });
});

t.test('a large file takes neither long nor much memory', async (t) => {
  const file = join(t.testdir(), 'journal.ndjson');
  const long = '['.repeat(20 * 2 ** 20);
  for (const [text, problem] of [
    [long, /:1: this is not the first line/],
    [journalText([]) + long, undefined],
    [journalText([]) + '\n'.repeat(60_000_000), undefined],
    ['x'.repeat(65 * 2 ** 20), /is larger than 67,108,864 bytes/],
  ] as const) {
    writeFileSync(file, text);
    const [start, before] = [performance.now(), process.memoryUsage().rss];
    if (problem === undefined) t.match(readJournal(file), { damage: /:2: damaged/ });
    else t.throws(() => readJournal(file), { message: problem });
    t.ok(performance.now() - start < 10_000, `${performance.now() - start} ms`);
    const grown = process.memoryUsage().rss - before;
    t.ok(grown < 100e6, `${grown} bytes`);
    appendFileSync(file, '');
  }
});
