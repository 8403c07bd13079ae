import { execFileSync } from 'node:child_process';
import { stripVTControlCharacters } from 'node:util';
import stringWidth from 'string-width';
import t from 'tap';
import { commandLines, renderTerminal } from './terminal.ts';
import { hostileReport, UNSEEN_CHARACTER } from './testing/hostile-report.ts';
import {
  conformantReport,
  inconclusiveReport,
  notConformantReport,
  partialReport,
} from './testing/sample-reports.ts';

const wide = { colour: false, columns: 140, rows: 50 };

t.test('a broken requirement: what the document asks, what came back, how to repeat it', async (t) => {
  const text = renderTerminal(notConformantReport(), wide);
  t.match(text, /^✘ Not conformant: 5 of 90 requirements broken/);
  t.match(
    text,
    /✘ error-status-matches \(2\)[\s\S]*asks {2}Error\.status is 404[\s\S]*came {2}Error\.status is 200[\s\S]*\n {2}curl -i -H "Auth/,
  );
  t.match(text, /– 4 skipped, needs the permission day: rate-day-free/);
  t.match(text, /≠ authentication-challenge \(5\) answers none, the profile pins bearer \(/);
  t.match(
    text,
    /→ Repeat only what is broken\n {2}petstore-harness check .* --only \\\n {4}error-status-matches,/,
  );
});

t.test('it fits one screen, and what does not fit is named', async (t) => {
  for (const [columns, rows] of [
    [80, 24],
    [60, 20],
    [120, 30],
    [200, 60],
  ] as const) {
    for (const make of [notConformantReport, inconclusiveReport, conformantReport, partialReport]) {
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
  t.match(small, /– 4 skipped/, 'what was not verified keeps its place');
});

t.test('colour is asked for, never assumed', async (t) => {
  t.notMatch(renderTerminal(notConformantReport(), wide), '\u001b');
  const painted = renderTerminal(notConformantReport(), { ...wide, colour: true });
  t.match(painted, '\u001b[31m');
  t.notMatch(stripVTControlCharacters(painted), UNSEEN_CHARACTER);
});

t.test('what was not asked for is told in a line each, and is never called conformant', async (t) => {
  const text = renderTerminal(partialReport(), { colour: false, columns: 80, rows: 24 });
  t.match(text, /^✔ Nothing broken: 61 of 61 asked for, 33 skipped \(exhaust, ban, day not permitted\)\n/);
  t.match(text, /\n– \d+ skipped, needs the permission exhaust: rate-/);
  t.match(
    text,
    /\n→ To verify \d+ more: permit exhaust\n {2}npx petstore-harness check --profile staging.yaml --permit writes,exhaust\n/,
  );
  t.match(text, /\n {2}verifying what was skipped would cost 5,310 requests, 6 min 52 s\n/);
  t.notMatch(text, /conform/i);
});

t.test('an unknown path that is answered without an Error body is noted, and is no failure', async (t) => {
  const report = conformantReport();
  const answering = (observed: string) =>
    renderTerminal(
      {
        ...report,
        gaps: report.gaps.map((row) =>
          row.id === 'unknown-path' ? { ...row, observed, detail: 'GET /no: 404 text/html, 9 bytes' } : row,
        ),
      },
      wide,
    );
  const note = 'to note: an unknown path is answered without an Error body, GET /no: 404 text/html, 9 bytes';
  t.match(answering('not-found-404-other-body'), note);
  t.notMatch(answering('not-found-404-error-body'), 'to note');
});

t.test('what made the run red is told where no requirement did', async (t) => {
  const problem = 'list-order passes now: remove it from the baseline (known.yaml:3)';
  const text = renderTerminal(
    { ...conformantReport(), verdict: 'not-conformant', problems: [problem] },
    { colour: false, columns: 80, rows: 24 },
  );
  t.match(text, `✘ Not conformant: ${problem}, 94 of 94 requirements verified`);
  t.match(text, `→ ${problem}`);
});

t.test('a cause stands first and names what follows from it', async (t) => {
  const report = notConformantReport();
  const requirements = report.requirements.map((row) =>
    row.id === 'rate-minute-pro' || row.id === 'retry-after-honest'
      ? { ...row, consequenceOf: 'rate-headers-on-401' }
      : row,
  );
  const text = renderTerminal({ ...report, requirements }, wide);
  t.match(
    text,
    /\n✘ rate-headers-on-401[\s\S]*\n {2}and 2 that follow from it: rate-minute-pro, retry-after-honest\n/,
  );
  t.ok(text.indexOf('rate-headers-on-401') < text.indexOf('error-status-matches'));
  t.notMatch(text, '✘ rate-minute-pro');
});

t.test('a command longer than the line can be pasted', async (t) => {
  const command = `curl -i -X POST -H "Authorization: Bearer $KEY" -H 'X: a b' --data-binary '{"name":"it'\\''s"}' 'https://x.example/v1/pets?limit=5&status=sold'`;
  const lines = commandLines(command, 40);
  t.ok(lines.length > 3 && lines.slice(0, -1).every((line) => line.endsWith(' \\')), lines.join('\n'));
  const words = (text: string) =>
    execFileSync('sh', ['-c', `curl() { printf '%s\\n' "$@"; }; KEY=secret; ${text}`], { encoding: 'utf8' });
  t.equal(words(lines.join('\n')), words(command));
});

t.test('of long texts the part that differs is shown', async (t) => {
  const report = notConformantReport();
  const alike = 'the same words again and again '.repeat(12);
  const requirements = report.requirements.map((row) =>
    row.id === 'error-status-matches'
      ? { ...row, expected: `${alike}FOUR and more`, actual: `${alike}FIVE and more` }
      : row,
  );
  const text = renderTerminal({ ...report, requirements }, { colour: false, columns: 80, rows: 40 });
  t.match(text, /asks {2}….*\n?.*FOUR and more/);
  t.match(text, /came {2}….*\n?.*FIVE and more/);
});

t.test('verdicts', async (t) => {
  t.match(renderTerminal(conformantReport(), wide), /^✔ Conformant: 94 of 94 requirements verified\n/);
  const open = renderTerminal(inconclusiveReport(), wide);
  t.match(open, /^\? Inconclusive/);
  t.match(open, /simulated clock \(60×\)/);
  t.match(open, /→ Run it again\n {2}petstore-harness check/);
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
