import { micromark } from 'micromark';
import { gfm, gfmHtml } from 'micromark-extension-gfm';
import t from 'tap';
import { HOSTILE_STRINGS, hostileReport, UNSEEN_CHARACTER } from '../testing/hostile-report.ts';
import { conformantReport, inconclusiveReport, notConformantReport } from '../testing/sample-reports.ts';
import { type MatrixColumn, readMatrix } from './matrix.ts';
import { renderMatrixHtml } from './matrix-html.ts';
import { renderMatrixMarkdown } from './matrix-markdown.ts';

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
  const text = JSON.stringify(conformantReport());
  const folder = t.testdir({ empty: {}, bad: { go: { 'report.json': '{' } }, java: { 'report.json': text } });
  t.match(readMatrix(`${folder}/empty`), { ok: false, problem: /holds no report\.json/ });
  t.match(readMatrix(`${folder}/bad`), { ok: false, problem: /go\/report\.json: is not JSON/ });
  t.match(readMatrix(folder), { ok: true, damaged: [/go\/report\.json: is not JSON/] });
  t.match(readMatrix(`${folder}/nowhere`), { ok: false, problem: /ENOENT/ });
});

t.test('a cell for each implementation and requirement', async (t) => {
  const page = renderMatrixHtml(columns);
  t.match(page, '3 implementations, 101 requirements');
  const table = page.slice(0, page.indexOf('<h2>What is broken'));
  t.equal(table.match(/<tr class="(alike|differs)">/g)?.length, 101);
  t.equal(page.match(/<td class="k-/g)?.length, 303);
  t.equal(page.match(/<td class="k-fail"/g)?.length, 5);
  t.match(page, /title="java: The field status of the Error is 200/);
  t.ok(Buffer.byteLength(page) < 300_000);
});

t.test('a failed cell leads to what was asked, what came and the command', async (t) => {
  const page = renderMatrixHtml(columns);
  t.match(page, /<td class="k-fail"[^>]*><a href="#b-1-error-status-matches">/);
  const [row] = /<div class="told" id="b-1-error-status-matches">[\s\S]*?<\/div>/.exec(page) ?? [];
  t.match(row, /<dt>asks<\/dt><dd>.*404[\s\S]*<dt>came<\/dt><dd>.*200[\s\S]*<pre tabindex="0">curl -i/);
  for (const [, target] of page.matchAll(/href="#([^"]+)"/g)) t.match(page, `id="${target}"`);
  const first = columns[0];
  if (first === undefined) throw new Error('no column');
  t.notMatch(renderMatrixHtml([first]), 'What is broken');
  t.notMatch(page, 'not in its run');
  const only = { ...first.report, requirements: first.report.requirements.slice(0, 5) };
  t.match(
    renderMatrixHtml([first, { name: 'only', report: only }]),
    '<span class="sr">not in its run</span>',
  );
});

t.test('the answers of each implementation, and where they differ', async (t) => {
  const other: MatrixColumn = {
    name: 'other',
    report: {
      ...conformantReport(),
      gaps: conformantReport().gaps.map((gap) =>
        gap.id === 'list-order' ? { ...gap, observed: 'newest-first' } : { ...gap },
      ),
    },
  };
  const page = renderMatrixHtml([{ name: 'go', report: conformantReport() }, other]);
  const answers = page.slice(page.indexOf('<h2>Answers'));
  t.equal(answers.match(/class="differs"/g)?.length, 1);
  t.match(answers, /class="differs"[^\n]*list-order[^\n]*oldest-first[^\n]*newest-first/);
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
  t.match(page, /requirements met by all are left out/);
});

t.test('hostile names and reasons are text', async (t) => {
  const hostile = HOSTILE_STRINGS.map((name) => ({ name, report: hostileReport() })).slice(0, 6);
  for (const page of [renderMatrixHtml(hostile), renderMatrixMarkdown(hostile)]) {
    t.notMatch(page, UNSEEN_CHARACTER);
    t.notMatch(page, /<(script|img|svg)/);
  }
});
