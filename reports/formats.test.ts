import t from 'tap';
import { FORMATS, type Format, NO_SCREEN } from './formats.ts';
import type { Report } from './report.ts';
import { conformantReport, notConformantReport, partialReport } from './testing/sample-reports.ts';

const render = (format: Format, report: Report) => format.render(report, { history: [], screen: NO_SCREEN });
const everyFormat = Object.entries<Format>(FORMATS);

t.test('a stale baseline entry is told in every format as what made the run red', async (t) => {
  const problem = 'list-order passes now: remove it from the baseline (known.yaml:3)';
  const stale: Report = { ...conformantReport(), verdict: 'not-conformant', problems: [problem] };
  for (const [name, format] of everyFormat) {
    const told = name === 'badge' ? '1 stale in the baseline' : 'list-order passes now';
    t.match(render(format, stale), told, name);
  }
});

t.test('a run that left something out is called conformant in no format', async (t) => {
  for (const [name, format] of everyFormat) {
    if (name !== 'sarif' && name !== 'github')
      t.match(render(format, conformantReport()), /[Cc]onformant/, `${name}: one that left out nothing is`);
    const partial = render(format, partialReport()).replace(/<style>.*<\/style>/g, '');
    t.notMatch(partial, /[Cc]onformant/, name);
  }
});

t.test('what follows from a cause names it in every format that lists requirements', async (t) => {
  const report = notConformantReport();
  const requirements = report.requirements.map((row) =>
    row.id === 'retry-after-honest' ? { ...row, consequenceOf: 'rate-minute-pro' } : row,
  );
  for (const [name, format] of everyFormat) {
    if (name === 'badge' || name === 'har') continue;
    const words = /[Ff]ollows? from (it: (<a[^>]*>|<code>|`)?retry-after-honest|(<a[^>]*>)?rate-minute-pro)/;
    t.match(render(format, { ...report, requirements }), words, name);
  }
});
