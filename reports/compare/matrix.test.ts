import t from 'tap';
import { buildReport } from '../build-report.ts';
import { broken, conformantReport, notConformantReport, reportWith, row } from '../testing/sample-reports.ts';
import { readMatrix } from './matrix.ts';
import { renderMatrixHtml } from './matrix-html.ts';
import { renderMatrixMarkdown } from './matrix-markdown.ts';

const columns = [
  { name: 'go', built: buildReport(reportWith([row('one'), row('two')])) },
  { name: 'java', built: buildReport(reportWith([broken('one'), row('two'), row('three')])) },
];

t.test('reports are found below a folder and named after theirs; a damaged one is told', async (t) => {
  const text = JSON.stringify(conformantReport());
  const folder = t.testdir({
    'rust.json': text,
    go: { 'report.json': text, 'other.json': '{}' },
    java: { spring: { 'report.json': JSON.stringify(notConformantReport()) } },
    php: { 'report.json': '{' },
    empty: {},
  });
  const read = readMatrix(folder);
  t.match(read, { ok: true, damaged: [/php\/report\.json: .*is not JSON/] });
  t.strictSame(read.ok && read.columns.map(({ name }) => name), ['go', 'java/spring', 'rust']);
  t.match(readMatrix(`${folder}/empty`), { ok: false, problem: /holds no report\.json/ });
  t.match(readMatrix(`${folder}/php`), { ok: false, problem: /is not JSON/ });
  t.match(readMatrix(`${folder}/nowhere`), { ok: false, problem: /ENOENT/ });
});

t.test('a cell for each implementation and requirement; a failed one leads to what came', async (t) => {
  const page = renderMatrixHtml(columns);
  t.match(page, '2 implementations, 3 requirements');
  t.match(page, 'hides 1 row');
  t.equal(page.match(/<span role="img"/g)?.length, 5);
  t.match(page, 'not in its run');
  t.match(page, /<td class="fail"[^>]*><a href="#b-1-one">/);
  t.match(page, /<div id="b-1-one">[\s\S]*one came otherwise[\s\S]*<pre tabindex="0">curl -i/);
  const text = renderMatrixMarkdown(columns);
  t.match(text, /^## 2 implementations, 3 requirements\n/);
  t.match(text, '| **one**<br>Title of one | 4.1 | ✔ | ✘ |');
});
