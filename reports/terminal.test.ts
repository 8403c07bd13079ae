import stringWidth from 'string-width';
import t from 'tap';
import type { Report } from './report.ts';
import { broken, render, reportWith, row, unpermitted, untold } from './testing/sample-reports.ts';

const shown = (report: Report, columns: number, rows: number) =>
  render(report, 'terminal', { colour: false, columns, rows });

const long =
  'The list held eleven animals of which seven had a status that nobody had asked for, again and again. ';

/** Everything that a report may say, at length. */
const much = (): Report =>
  reportWith([
    ...Array.from({ length: 9 }, (_, index) =>
      broken(`requirement-with-a-name-${index}`, { expected: long, actual: long.repeat(9), title: long }),
    ),
    { ...untold('follows', 'x'), consequenceOf: 'requirement-with-a-name-1' },
    ...Array.from({ length: 30 }, (_, index) => untold(`open-${index}`, `reason ${index}, ${long}`)),
    unpermitted('skipped', 'day'),
  ]);

t.test('a summary fits its screen, wraps between words, and shows the first cause', async (t) => {
  const words = new Set(shown(much(), 1_000, Number.POSITIVE_INFINITY).split(/\s+/));
  for (const columns of [60, 80, 200]) {
    for (const rows of [24, 40, 200]) {
      const lines = shown(much(), columns, rows).split('\n');
      const height = lines.reduce(
        (sum, line) => sum + Math.ceil(Math.max(1, stringWidth(line)) / columns),
        0,
      );
      t.ok(columns < 80 || height <= rows, `${height} lines on ${columns}×${rows}`);
      const isCommand = (line: string) => /^ {2}(curl|petstore-harness) /.test(line);
      const wide = lines.filter(
        (line) => stringWidth(line) > columns && !isCommand(line) && !/\S{60}/.test(line),
      );
      t.strictSame(wide, [], `${columns} columns`);
      t.match(lines.slice(1, 12).join('\n'), /✘ requirement-with-a-name-1 \(4\.1\)/, 'the first cause');
      const torn = lines
        .slice(0, 5)
        .join(' ')
        .split(/\s+/)
        .filter((word) => !words.has(word) && !word.includes('…'));
      t.strictSame(torn, [], 'no word is torn');
    }
  }
});

t.test('a clause that is read into the document is called so', async (t) => {
  const reading = reportWith([broken('one', { reading: 'it is not stated' })]);
  t.match(shown(reading, 120, 99), '“The clause of one.” (our reading)');
});

t.test('interference and an interruption are told at once', async (t) => {
  const report = reportWith([
    broken('one'),
    row('two', { verdict: 'inconclusive', why: [{ kind: 'interference', what: 'x', key: 'k' }] }),
  ]);
  const run = { ...report.run, interrupted: 'SIGINT', resume: 'petstore-harness check --resume here' };
  const text = shown({ ...report, run }, 80, 24);
  t.match(text, /! Perhaps somebody else used a key: x, as if another client were using key k\n/);
  t.match(text, /→ Continue the run\n {2}petstore-harness check --resume here\n→ Repeat only/);
});
