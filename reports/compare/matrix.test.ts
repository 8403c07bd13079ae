import { join } from 'node:path';
import t from 'tap';
import { FORMATS } from '../formats.ts';
import { broken, conformantReport, notConformantReport, reportWith, row } from '../testing/sample-reports.ts';
import { matrixOf, readMatrix } from './matrix.ts';

const matrix = matrixOf([
  { name: 'go', report: reportWith([row('one'), row('two')]) },
  { name: 'java', report: reportWith([broken('one'), row('two'), row('three')]) },
]);

t.test('reports are found below a folder and named after theirs; a damaged one is told', async (t) => {
  const text = JSON.stringify(conformantReport());
  const folder = t.testdir({
    rust: { 'report.json': text },
    go: { 'report.json': text, 'other.json': '{}' },
    java: { spring: { 'report.json': JSON.stringify(notConformantReport()) } },
    php: { 'report.json': '{' },
    empty: {},
  });
  const damaged: string[] = [];
  const names = readMatrix(folder, (problem) => damaged.push(problem)).map(({ name }) => name);
  t.match(damaged, [/php\/report\.json: .*is not JSON/]);
  t.strictSame(names, ['go', 'java/spring', 'rust']);
  for (const [name, message] of [
    ['empty', /holds no report\.json/],
    ['nowhere', /is not a folder/],
  ] as const)
    t.throws(() => readMatrix(join(folder, name), t.fail), { message });
});

t.test('requirements that not all meet', async (t) => {
  for (const text of [FORMATS.html.render(matrix), FORMATS.markdown.render(matrix)]) {
    t.match(text, '2 implementations, 3 requirements');
    t.match(text, 'not in its run');
    t.match(text, 'Title of one');
    t.notMatch(text, 'Title of two', 'both meet it');
  }
  t.match(FORMATS.markdown.render(matrix), '<td>4.1</td><td>✔</td><td><b class="fail">✘</b></td>');
});
