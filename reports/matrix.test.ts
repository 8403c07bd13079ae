import { micromark } from 'micromark';
import { gfm, gfmHtml } from 'micromark-extension-gfm';
import t from 'tap';
import { HOSTILE_STRINGS, hostileReport, UNSEEN_CHARACTER } from './fixtures/hostile-report.ts';
import { conformantReport, inconclusiveReport, notConformantReport } from './fixtures/sample-reports.ts';
import { type MatrixColumn, readMatrix, renderMatrixHtml, renderMatrixMarkdown } from './matrix.ts';

const columns: MatrixColumn[] = [
  { name: 'go', report: conformantReport() },
  { name: 'java', report: notConformantReport() },
  { name: 'python', report: inconclusiveReport() },
];

t.test('reports are found below a folder and named after theirs', async (t) => {
  const text = JSON.stringify(conformantReport());
  const folder = t.testdir({
    'rust.json': text,
    go: { 'report.json': text, 'other.json': '{}' },
    java: { spring: { 'report.json': text } },
    empty: {},
  });
  const read = readMatrix(folder);
  t.strictSame(read.ok && read.columns.map(({ name }) => name), ['go', 'java/spring', 'rust']);
});

t.test('a folder without reports, or with a broken one, is one line', async (t) => {
  const folder = t.testdir({ empty: {}, bad: { go: { 'report.json': '{' } } });
  t.match(readMatrix(`${folder}/empty`), { ok: false, problem: /holds no report\.json/ });
  t.match(readMatrix(`${folder}/bad`), { ok: false, problem: /go\/report\.json: is not JSON/ });
  t.match(readMatrix(`${folder}/nowhere`), { ok: false, problem: /ENOENT/ });
});

t.test('a cell for each implementation and requirement', async (t) => {
  const page = renderMatrixHtml(columns);
  t.match(page, '3 implementations, 101 requirements');
  t.equal(page.match(/<tr class="(alike|differs)">/g)?.length, 101);
  t.equal(page.match(/<td class="m-/g)?.length, 303);
  t.equal(page.match(/<td class="m-fail"/g)?.length, 5);
  t.match(page, /title="java: The field status of the Error is 200/);
  t.ok(Buffer.byteLength(page) < 300_000);
});

t.test('Markdown leaves out what all meet', async (t) => {
  const page = micromark(renderMatrixMarkdown(columns), {
    allowDangerousHtml: true,
    extensions: [gfm()],
    htmlExtensions: [gfmHtml()],
  });
  t.match(page, /<th><code>java<\/code><\/th>/);
  t.match(page, /error-status-matches<\/strong>[\s\S]*?<td>2<\/td>\n<td>✔<\/td>\n<td>✘<\/td>\n<td>✔<\/td>/);
  t.notMatch(page, 'list-each-once');
  t.match(page, /requirements that all meet are left out/);
});

t.test('hostile names and reasons are text', async (t) => {
  const hostile = HOSTILE_STRINGS.map((name) => ({ name, report: hostileReport() })).slice(0, 6);
  for (const page of [renderMatrixHtml(hostile), renderMatrixMarkdown(hostile)]) {
    t.notMatch(page, UNSEEN_CHARACTER);
    t.notMatch(page, /<(script|img|svg)/);
  }
});
