import { stripVTControlCharacters } from 'node:util';
import stringWidth from 'string-width';
import t from 'tap';
import { renderTerminal } from './terminal.ts';
import { hostileReport, UNSEEN_CHARACTER } from './testing/hostile-report.ts';
import { conformantReport, inconclusiveReport, notConformantReport } from './testing/sample-reports.ts';

const wide = { colour: false, columns: 140, rows: 50 };

t.test('a broken requirement: what the document asks, what came back, how to repeat it', async (t) => {
  const text = renderTerminal(notConformantReport(), wide);
  t.match(text, /^✘ Not conformant: 5 of 94 requirements broken/);
  t.match(
    text,
    /✘ error-status-matches \(2\)[\s\S]*asks Error\.status is 404[\s\S]*came Error\.status is 200[\s\S]*repeat curl -i -H "Auth/,
  );
  t.match(text, /\? 4 not verified: Needs the permission day/);
  t.match(text, /≠ authentication-challenge \(5\) answers none, the profile pins bearer \(/);
  t.match(text, /→ Repeat what is broken alone: petstore-harness check .* --only error-status-matches,/);
});

t.test('it fits one screen, and what does not fit is named', async (t) => {
  for (const [columns, rows] of [
    [80, 24],
    [60, 20],
    [120, 30],
    [200, 60],
  ] as const) {
    for (const make of [notConformantReport, inconclusiveReport, conformantReport]) {
      const lines = renderTerminal(make(), { colour: false, columns, rows }).trimEnd().split('\n');
      const height = lines.reduce(
        (sum, line) => sum + Math.max(1, Math.ceil(stringWidth(line) / columns)),
        0,
      );
      t.ok(height < rows, `${make.name} takes ${height} of ${rows} lines at ${columns} columns`);
    }
  }
  const small = renderTerminal(notConformantReport(), { colour: false, columns: 100, rows: 24 });
  t.match(small, /✘ \d more broken: .*retry-after-honest/);
  t.match(small, /4 not verified/, 'what was not verified keeps its place');
});

t.test('colour is asked for, never assumed', async (t) => {
  t.notMatch(renderTerminal(notConformantReport(), wide), '\u001b');
  const painted = renderTerminal(notConformantReport(), { ...wide, colour: true });
  t.match(painted, '\u001b[31m');
  t.notMatch(stripVTControlCharacters(painted), UNSEEN_CHARACTER);
});

t.test('verdicts', async (t) => {
  t.match(renderTerminal(conformantReport(), wide), /^✔ Conformant: 94 of 94 requirements verified\n/);
  const open = renderTerminal(inconclusiveReport(), wide);
  t.match(open, /^\? Inconclusive/);
  t.match(open, /simulated clock \(60×\)/);
  t.match(open, /→ Run again to the end: petstore-harness check/);
});

t.test('hostile text cannot reach the terminal', async (t) => {
  const text = renderTerminal(hostileReport(), {
    colour: false,
    columns: 100,
    rows: Number.POSITIVE_INFINITY,
  });
  t.notMatch(text, UNSEEN_CHARACTER);
  t.ok(text.length < 30_000, `${text.length} characters`);
});
