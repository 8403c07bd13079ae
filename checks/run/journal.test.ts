import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import type { Exchange } from '../wire/exchange.ts';
import { answered } from '../wire/testing/answered.ts';
import { Journal, type JournalHeader, readJournal } from './journal.ts';

const HEADER: JournalHeader = {
  journal: 1,
  runId: 'abcd2345',
  startedAt: 1_795_262_400_000.5,
  target: 'https://staging.example.com/v1',
  permissions: ['writes', 'day'],
  keys: ['free-1', 'pro-1'],
  clockSpeed: 60,
};

const failed: Exchange = {
  ...answered({ id: 'check#2' }),
  outcome: { kind: 'failure', reason: 'reset', message: 'the connection was reset' },
};
const EXCHANGES: readonly Exchange[] = [
  answered({
    id: 'check#1',
    headers: [['Date', 'now']],
    body: '[{"name":"Ōkami 🐕\\u2028"}]\n',
    requestBody: '{}',
    bodyProblem: 'invalid-utf8',
  }),
  failed,
  answered({ id: 'anonymous#1', key: null, status: 401 }),
  answered({ id: 'check#3', key: 'pro-1', operation: 'other' }),
];

interface Folder {
  testdir(): string;
}
const fileIn = (t: Folder) => join(t.testdir(), 'journal.ndjson');

function written(t: Folder, exchanges: readonly Exchange[] = EXCHANGES): string {
  const file = fileIn(t);
  const journal = new Journal(file, HEADER);
  for (const exchange of exchanges) {
    journal.begin(exchange.id, exchange.key);
    journal.append(exchange);
  }
  journal.close();
  return file;
}

t.test('what was written is read back', async (t) => {
  const content = readJournal(written(t));
  if (!content.ok) throw new Error(content.problem);
  t.strictSame(content.header, HEADER);
  t.strictSame([...content.exchanges.values()], EXCHANGES);
  t.strictSame(
    [...content.exchanges.keys()],
    EXCHANGES.map(({ id }) => id),
  );
  t.strictSame([...content.lost.values()], [0, 0]);
});

t.test('a restricted run says so', async (t) => {
  const file = fileIn(t);
  new Journal(file, { ...HEADER, only: ['list-limit-range'] }).close();
  t.match(readJournal(file), { ok: true, header: { only: ['list-limit-range'] } });
});

t.test('a run says which version began it, where that version said so', async (t) => {
  const file = fileIn(t);
  new Journal(file, { ...HEADER, harnessVersion: '1.2.3' }).close();
  t.match(readJournal(file), { ok: true, header: { harnessVersion: '1.2.3' } });
  new Journal(file, HEADER).close();
  const before = readJournal(file);
  t.strictSame(before.ok && before.header.harnessVersion, undefined);
});

t.test('only its owner can read it', async (t) => {
  t.equal(statSync(written(t)).mode & 0o777, 0o600);
});

t.test('every exchange is on disk as soon as it is over', async (t) => {
  const file = fileIn(t);
  const journal = new Journal(file, HEADER);
  const [first] = EXCHANGES;
  if (first === undefined) throw new Error('an exchange');
  journal.begin(first.id, first.key);
  t.match(readFileSync(file, 'utf8'), '{"begun":"check#1","key":"free-1"}\n');
  t.match(readJournal(file), { ok: true, lost: new Map([['free-1', 1]]) });
  journal.append(first);
  t.match(readJournal(file), { ok: true, exchanges: new Map([['check#1', first]]) });
  journal.close();
});

t.test(
  'requests that were begun and have no exchange are lost, by key; those without a key are not',
  async (t) => {
    const file = fileIn(t);
    const journal = new Journal(file, HEADER);
    for (const exchange of EXCHANGES) {
      journal.begin(exchange.id, exchange.key);
      journal.begin(`${exchange.id}-lost`, exchange.key);
      if (exchange.key === 'free-1') journal.append(exchange);
    }
    journal.close();
    const content = readJournal(file);
    t.strictSame(
      content.ok && content.lost,
      new Map([
        ['free-1', 2],
        ['pro-1', 2],
      ]),
    );
    t.strictSame(content.ok && [...content.unanswered.keys()], [
      'check#1-lost',
      'check#2-lost',
      'anonymous#1',
      'anonymous#1-lost',
      'check#3',
      'check#3-lost',
    ]);
  },
);

t.test(
  'of each request without an answer it is known how much was on record when its process ended',
  async (t) => {
    const file = fileIn(t);
    const process = (
      header: typeof HEADER | undefined,
      lost: readonly string[],
      ...answers: readonly string[]
    ) => {
      const journal = new Journal(file, header);
      for (const id of [...answers, ...lost]) journal.begin(id, 'free-1');
      for (const id of answers) journal.append(answered({ id }));
      journal.close();
    };
    process(HEADER, ['check#3', 'check#4', 'other#1'], 'check#1', 'check#2');
    process(undefined, ['check#4'], 'check#3');
    process(undefined, ['check#6'], 'check#5');
    const content = readJournal(file);
    t.strictSame(
      content.ok && content.unanswered,
      new Map([
        ['check#4', 3],
        ['other#1', 2],
        ['check#6', 4],
      ]),
    );
  },
);

t.test('answers are marked by which a lost request of the same key may have been counted', async (t) => {
  const file = fileIn(t);
  const journal = new Journal(file, HEADER);
  const begin = (...ids: readonly string[]) => {
    for (const id of ids) journal.begin(id, id.startsWith('other') ? 'pro-1' : 'free-1');
  };
  const append = (...ids: readonly string[]) => {
    for (const id of ids) journal.append(answered({ id, key: id.startsWith('other') ? 'pro-1' : 'free-1' }));
  };
  begin('check#1', 'check#2');
  append('check#2', 'check#1');
  begin('check#3');
  append('check#3');
  begin('check#4', 'lost#1', 'other#1', 'check#5');
  append('other#1', 'check#5', 'check#4');
  begin('check#6');
  append('check#6');
  journal.close();
  const goneOn = new Journal(file, undefined);
  goneOn.begin('check#7', 'free-1');
  goneOn.append(answered({ id: 'check#7', key: 'free-1' }));
  goneOn.close();
  const content = readJournal(file);
  t.strictSame(content.ok && [...content.besideLost], ['check#5', 'check#4', 'check#6']);
});

t.test('where a process went on, the first request on each key is marked', async (t) => {
  const file = written(t);
  const goOn = (cut: number, ...ids: readonly (readonly [id: string, key: string | null])[]) => {
    const bytes = readFileSync(file);
    writeFileSync(file, bytes.subarray(0, bytes.length - cut));
    const journal = new Journal(file, undefined);
    for (const [id, key] of ids) journal.begin(id, key);
    for (const [id, key] of ids.toReversed()) journal.append(answered({ id, key }));
    journal.close();
  };
  const marked = () => {
    const content = readJournal(file);
    return content.ok && [...content.resumedWith];
  };
  t.strictSame(marked(), []);
  goOn(0, ['check#4', 'free-1'], ['check#5', 'free-1'], ['check#6', 'pro-1'], ['check#7', null]);
  t.strictSame(marked(), ['check#4', 'check#6', 'check#7']);
  goOn(5, ['check#4', 'free-1'], ['check#8', 'free-1']);
  t.strictSame(marked(), ['check#4', 'check#6', 'check#7'], 'cut off, it was sent again');
  goOn(5, ['check#8', 'free-1']);
  t.strictSame(marked(), ['check#4', 'check#6', 'check#7', 'check#8']);
  goOn(1, ['check#9', 'free-1']);
  t.strictSame(
    marked(),
    ['check#4', 'check#6', 'check#7', 'check#8', 'check#9'],
    'only the line’s end was cut',
  );
});

t.test('a new run replaces what was there, one that goes on keeps it', async (t) => {
  const file = written(t);
  const more = new Journal(file, undefined);
  more.append(answered({ id: 'later#1' }));
  more.close();
  const content = readJournal(file);
  t.strictSame(content.ok && [...content.exchanges.keys()], [...EXCHANGES.map(({ id }) => id), 'later#1']);
  new Journal(file, HEADER).close();
  t.strictSame(readFileSync(file, 'utf8'), `${JSON.stringify(HEADER)}\n`);
});

t.test('cut off anywhere behind its first line, it loses the cut line at most, and goes on', async (t) => {
  const file = written(t);
  const bytes = readFileSync(file);
  const from = bytes.indexOf('\n');
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(fc.integer({ min: from, max: bytes.length }), (end) => {
        writeFileSync(file, bytes.subarray(0, end));
        const text = bytes.subarray(0, end).toString();
        const whole = EXCHANGES.filter((exchange) => text.includes(JSON.stringify(exchange))).map(
          ({ id }) => id,
        );
        const cut = readJournal(file);
        const more = new Journal(file, undefined);
        more.append(answered({ id: 'later#1' }));
        more.close();
        const gone = readJournal(file);
        return (
          cut.ok &&
          gone.ok &&
          cut.warnings.every((told) => /journal\.ndjson:\d+: cut off; an exchange that it held/.test(told)) &&
          cut.warnings.length <= 1 &&
          gone.warnings.length === 0 &&
          [...cut.exchanges.keys()].join() === whole.join() &&
          [...gone.exchanges.keys()].join() === [...whole, 'later#1'].join() &&
          [...gone.exchanges.values()].slice(0, -1).every((exchange, index) => {
            return JSON.stringify(exchange) === JSON.stringify(EXCHANGES[index]);
          })
        );
      }),
      { numRuns: 300 },
    ),
  );
});

/** A journal of one line each: the header, and the beginning and the answer of each exchange by turns. */
function linesOf(t: Folder): { readonly file: string; readonly lines: readonly string[] } {
  const file = written(t);
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  return { file, lines };
}

t.test('a line that is damaged where no process ended is told, and costs its exchange only', async (t) => {
  const { file, lines } = linesOf(t);
  const damages = {
    'letters that are gone': (line: string) => line.slice(5),
    'zeros, as of a disk that lost its power': (line: string) => '\0'.repeat(line.length),
    'a line end in the middle': (line: string) => `${line.slice(0, 20)}\n${line.slice(20)}`,
    'two lines in one': (line: string) => line + line,
  };
  for (const [name, damage] of Object.entries(damages)) {
    // The answer of the second exchange, and the beginning of the third.
    for (const [at, missing, lost] of [
      [4, 'check#2', 1],
      [5, undefined, 0],
    ] as const) {
      const changed = lines.map((line, index) => (index === at ? damage(line) : line));
      const text = `${changed.join('\n')}\n`;
      writeFileSync(file, text);
      const content = readJournal(file);
      if (!content.ok) throw new Error(content.problem);
      const told = `${file}:${at + 1}: cannot be read; an exchange that it held counts as lost`;
      t.equal(content.warnings[0], told, name);
      t.equal(content.warnings.length, name === 'a line end in the middle' ? 2 : 1, name);
      t.strictSame(
        [...content.exchanges.keys()],
        EXCHANGES.map(({ id }) => id).filter((id) => id !== missing),
        name,
      );
      t.strictSame([...content.lost.values()], [lost, 0], name);
      const next = at === 4 ? ['anonymous#1', 'check#3'] : ['check#3'];
      t.strictSame(
        [...content.resumedWith],
        next,
        `${name}: others on the key may be missing right before it`,
      );
      t.equal(readFileSync(file, 'utf8'), text, 'the file is left as it is');
    }
  }
});

t.test('a last line that is whole and cannot be read is damaged, not cut off', async (t) => {
  const { file, lines } = linesOf(t);
  writeFileSync(file, `${lines.join('\n')}\nxyz\n`);
  t.match(readJournal(file), { ok: true, warnings: [`${file}:10: cannot be read`] });
  writeFileSync(file, `${lines.join('\n')}\nxyz`);
  t.match(readJournal(file), {
    ok: true,
    warnings: [`${file}:10: cut off; an exchange that it held counts as lost`],
  });
  new Journal(file, undefined).close();
  t.match(readJournal(file), { ok: true, warnings: [] }, 'the next process ended it');
});

t.test('an exchange that is there twice counts once; two of one id are refused', async (t) => {
  const { file, lines } = linesOf(t);
  const [first, again] = [lines[2] ?? '', answered({ id: 'check#1', status: 500 })];
  writeFileSync(file, `${[...lines, first].join('\n')}\n`);
  const content = readJournal(file);
  if (!content.ok) throw new Error(content.problem);
  t.strictSame(content.warnings, [`${file}:10: once more check#1, which line 3 holds; it counts once`]);
  t.strictSame([...content.exchanges.values()], EXCHANGES);
  t.strictSame([...content.lost.values()], [0, 0]);
  writeFileSync(file, `${[...lines, JSON.stringify(again)].join('\n')}\n`);
  t.strictSame(readJournal(file), {
    ok: false,
    problem: `${file}:10: another exchange check#1, which line 3 holds; keep the one that is this run’s`,
  });
});

t.test('the journals of two runs in one file are refused', async (t) => {
  const { file, lines } = linesOf(t);
  writeFileSync(file, `${[...lines, ...lines].join('\n')}\n`);
  t.strictSame(readJournal(file), {
    ok: false,
    problem: `${file}:10: another run begins here, abcd2345; a journal is of one run`,
  });
});

t.test('no journal, or something else', async (t) => {
  const file = fileIn(t);
  t.strictSame(readJournal(file), {
    ok: false,
    problem: `${file}: no journal there; --resume and --rejudge need one`,
  });
  const notFirst = { ok: false, problem: `${file}:1: not the first line of a journal` };
  const { only: _, ...header } = { ...HEADER, only: undefined };
  const others = [
    '',
    'hello',
    '{"journal":1',
    JSON.stringify({ ...header, journal: 2 }),
    JSON.stringify({ ...header, runId: 'Not/An/Id' }),
    JSON.stringify({ ...header, runId: 'abc' }),
    JSON.stringify({ ...header, startedAt: 'yesterday' }),
    JSON.stringify({ ...header, target: 1 }),
    JSON.stringify({ ...header, permissions: ['everything'] }),
    JSON.stringify({ ...header, keys: [1] }),
    JSON.stringify({ ...header, clockSpeed: 0 }),
    JSON.stringify({ ...header, only: 'list-limit-range' }),
    JSON.stringify({ ...header, harnessVersion: 1 }),
    JSON.stringify({ ...header, further: true }),
    ...Object.keys(header).map((name) => JSON.stringify({ ...header, [name]: undefined })),
  ];
  for (const text of others) {
    writeFileSync(file, text);
    t.strictSame(readJournal(file), notFirst, text);
  }
});

t.test('a line of JSON that is no exchange is named', async (t) => {
  const file = written(t, []);
  const good = EXCHANGES[0];
  if (good === undefined) throw new Error('an exchange');
  const { request, outcome } = good;
  const others: readonly unknown[] = [
    [],
    null,
    7,
    { begun: 1, key: 'free-1' },
    { begun: 'check#1' },
    { begun: 'check#1', key: 1 },
    ...Object.keys(good).map((name) => ({ ...good, [name]: undefined })),
    ...Object.keys(good).map((name) => ({ ...good, [name]: {} })),
    ...['operation', 'method', 'path', 'headers'].map((name) => ({
      ...good,
      request: { ...request, [name]: undefined },
    })),
    { ...good, request: { ...request, operation: 'deletePet' } },
    { ...good, request: { ...request, headers: [['a']] } },
    { ...good, request: { ...request, headers: [['a', 'b', 'c']] } },
    { ...good, request: { ...request, headers: [['a', 1]] } },
    { ...good, request: { ...request, headers: ['a'] } },
    { ...good, request: { ...request, body: 1 } },
    { ...good, request: { ...request, method: 1 } },
    { ...good, request: { ...request, path: 1 } },
    ...['kind', 'status', 'headers', 'body', 'bodyBytes'].map((name) => ({
      ...good,
      outcome: { ...outcome, [name]: undefined },
    })),
    { ...good, outcome: { ...outcome, status: 200.5 } },
    { ...good, outcome: { ...outcome, bodyBytes: 'many' } },
    { ...good, outcome: { ...outcome, body: 1 } },
    { ...good, outcome: { ...outcome, headers: 1 } },
    { ...good, outcome: { ...outcome, kind: 'else' } },
    { ...good, outcome: { ...outcome, bodyProblem: 'else' } },
    { ...good, outcome: { ...failed.outcome, reason: undefined } },
    { ...good, outcome: { ...failed.outcome, message: undefined } },
    { ...good, outcome: { ...failed.outcome, reason: 1 } },
    { ...good, outcome: { ...failed.outcome, message: 1 } },
  ];
  for (const other of others) {
    const line = JSON.stringify(other);
    writeFileSync(file, `${JSON.stringify(HEADER)}\n${JSON.stringify(good)}\n${line}\n`);
    t.strictSame(readJournal(file), { ok: false, problem: `${file}:3: not an exchange` }, line);
  }
});
