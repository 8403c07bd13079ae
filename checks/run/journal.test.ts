import { appendFileSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { reading } from '../limits/testing/simulated-limits.ts';
import { answered } from '../wire/testing/answered.ts';
import { Journal, type JournalEntry, type JournalHeader, readJournal } from './journal.ts';

const HEADER: JournalHeader = {
  journal: 2,
  runId: 'abcd2345',
  startedAt: 1000,
  target: 'https://staging.example.com/v1',
  permissions: ['writes'],
  keys: ['free-1'],
  clockSpeed: 1,
  harnessVersion: '0.1.0',
};
const ENTRIES: readonly JournalEntry[] = [
  { playing: 'lists' },
  { exchange: answered({ id: 'lists#1' }) },
  {
    exchange: {
      ...answered({ id: 'lists#2' }),
      outcome: { kind: 'failure', reason: 'reset', message: 'the connection was reset' },
    },
  },
  { reading: { ...reading(), id: 'burst#3' } },
  { tallied: 48, key: 'free-1' },
  { scene: 'lists', outcome: { all: { $: 'exchange', id: 'lists#1' } } },
  { scene: 'empty' },
  { scene: 'broken', unsettled: 'no answer', evidence: ['lists#2'] },
];

/** A journal with these entries, and how it is read back. */
function written(t: Test, entries: readonly JournalEntry[] = ENTRIES) {
  const file = join(t.testdir(), 'journal.ndjson');
  const journal = new Journal(file, HEADER, 1);
  for (const entry of entries) journal.append(entry);
  journal.close();
  return { file, read: () => readJournal(file) };
}

t.test('a journal is read back as it was written, and is its owner’s alone', (t) => {
  const { file, read } = written(t);
  t.match(read(), { ok: true, header: HEADER, sessions: 1, warnings: [] });
  const content = read();
  // What is undefined is not written.
  const stored: unknown = JSON.parse(JSON.stringify([{ session: 1 }, ...ENTRIES]));
  t.strictSame(content.ok && content.entries, stored);
  t.equal(statSync(file).mode & 0o777, 0o600);
  t.end();
});

t.test('a later process goes on with it, and ends a line that was cut off', (t) => {
  const { file, read } = written(t, ENTRIES.slice(0, 2));
  appendFileSync(file, '{"exchange":{"id":"lists#2"');
  t.match(read(), { ok: true, warnings: [`${file}:5: cannot be read; what it held counts as lost`] });
  const journal = new Journal(file, undefined, 2);
  journal.append({ playing: 'lists' });
  journal.close();
  const again = read();
  t.match(again, { ok: true, sessions: 2, warnings: [] }, 'which is no damage');
  t.strictSame(again.ok && again.entries.slice(-2), [{ session: 2 }, { playing: 'lists' }]);
  t.end();
});

t.test('a damaged line is left out, and told with file and line', (t) => {
  const { file, read } = written(t);
  const lines = readFileSync(file, 'utf8').split('\n');
  lines[3] = `${lines[3]?.slice(0, 20)}\u0000`;
  writeFileSync(file, lines.join('\n'));
  const content = read();
  t.match(content, { ok: true, warnings: [`${file}:4: cannot be read; what it held counts as lost`] });
  t.equal(content.ok && content.entries.length, ENTRIES.length);
  t.end();
});

t.test('what is there twice counts once; two answers to one request are two runs', (t) => {
  const { file, read } = written(t);
  const [, , , exchange = ''] = readFileSync(file, 'utf8').split('\n');
  appendFileSync(file, `${exchange}\n`);
  t.match(read(), {
    ok: true,
    warnings: [`${file}:11: a repetition of lists#1, as on line 4; it counts once`],
  });
  appendFileSync(file, `${exchange.replace('"status":200', '"status":404')}\n`);
  t.match(read(), {
    ok: false,
    problem: `${file}:12: another exchange lists#1, as on line 4; keep the one that belongs to this run`,
  });
  t.end();
});

t.test('what is no journal of one run says so', (t) => {
  const cases: readonly (readonly [text: string, problem: RegExp])[] = [
    ['', /:1: this is not the first line of a journal/],
    ['{"journal":1}\n', /:1: this is not the first line of a journal of this version/],
    [`${JSON.stringify(HEADER)}\n${JSON.stringify(HEADER)}\n`, /:2: another run begins here, abcd2345/],
    [`${JSON.stringify(HEADER)}\n{"exchange":{"id":"a"}}\n`, /:2: not a journal entry/],
    [`${JSON.stringify(HEADER)}\n[]\n`, /:2: not a journal entry/],
  ];
  for (const [text, problem] of cases) {
    const file = join(t.testdir(), 'journal.ndjson');
    writeFileSync(file, text);
    t.match(readJournal(file), { ok: false, problem }, text.slice(-40));
  }
  t.match(readJournal(join(t.testdir(), 'none')), { ok: false, problem: /there is no journal/ });
  t.end();
});
