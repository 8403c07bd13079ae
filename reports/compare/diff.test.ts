import t from 'tap';
import type { GapResult, Report, RequirementResult } from '../report.ts';
import { NO_SCREEN } from '../terminal.ts';
import {
  broken,
  conformantReport,
  notConformantReport,
  reportWith,
  row,
  unpermitted,
  untold,
} from '../testing/sample-reports.ts';
import { diffReports, renderDiffHtml, renderDiffJson, renderDiffText } from './diff.ts';

const withRows = (...rows: RequirementResult[]) => reportWith([row('other'), ...rows]);

t.test('what became of a requirement, and whether it is a regression', async (t) => {
  const known = broken('one', { baselined: true });
  for (const [was, is, kind, regression] of [
    [row('one'), broken('one'), 'broke', true],
    [known, broken('one'), 'broke', true],
    [undefined, broken('one'), 'broke', true],
    [row('one'), untold('one', 'x'), 'no-longer-verified', true],
    [row('one'), unpermitted('one', 'ban'), 'no-longer-verified', true],
    [row('one'), undefined, 'no-longer-verified', true],
    [broken('one'), row('one'), 'fixed', false],
    [known, row('one'), 'fixed', false],
    [undefined, row('one'), 'newly-verified', false],
    [untold('one', 'x'), row('one'), 'newly-verified', false],
    [row('one'), known, 'changed', false],
    [row('one'), row('one', { verdict: 'not-applicable' }), 'changed', false],
    [unpermitted('one', 'ban'), undefined, undefined, false],
    [row('one'), row('one'), undefined, false],
  ] as const) {
    const before = was === undefined ? withRows() : withRows(was);
    const diff = diffReports(before, is === undefined ? withRows() : withRows(is));
    t.equal(diff.requirements[0]?.kind, kind, `${was?.verdict} to ${is?.verdict}`);
    t.equal(diff.regression, regression);
  }
  const noLongerSeen = diffReports(withRows(broken('one')), withRows(untold('one', 'too slow')));
  t.match(renderDiffText(noLongerSeen), /Changed otherwise +fail +inconclusive +too slow\n/);
});

const gap = (facts: Partial<GapResult>): Report =>
  reportWith([row('one')], {
    gaps: [
      {
        id: 'list-order',
        section: '4.1',
        question: 'In which order?',
        observed: 'a',
        pinned: null,
        verdict: 'observed',
        detail: '',
        evidence: [],
        ...facts,
      },
    ],
  });

t.test('answers: unpinned changes are news, a broken pin is a regression', async (t) => {
  for (const [is, change, regression] of [
    [gap({}), undefined, false],
    [gap({ observed: 'b' }), { was: 'a', is: 'b', breaksPin: false }, false],
    [gap({ observed: null, verdict: 'not-observed' }), undefined, false],
    [
      gap({ observed: 'b', pinned: 'a', verdict: 'drifted' }),
      { was: 'a', is: 'b', pinned: 'a', breaksPin: true },
      true,
    ],
    [gap({ pinned: 'b', verdict: 'drifted' }), { was: 'a', is: 'a', pinned: 'b', breaksPin: true }, true],
  ] as const) {
    const diff = diffReports(gap({}), is);
    t.match(diff.gaps, change === undefined ? [] : [change]);
    t.equal(diff.gaps.length, change === undefined ? 0 : 1);
    t.equal(diff.regression, regression);
  }
});

t.test('text, page and JSON say the same', async (t) => {
  const diff = diffReports(conformantReport(), notConformantReport());
  t.same(JSON.parse(renderDiffJson(diff)), diff);
  const headline = 'Regression: 2 broke, 2 no longer verified, 1 pinned answer drifted';
  const text = renderDiffText(diff);
  t.match(text, `${headline}\n`);
  t.match(text, /\n {2}one +4\.1 +Broke +pass +fail +one came otherwise; asked for: as one asks\n/);
  t.match(text, /\n {2}list-order +4\.1 +newest-first +oldest-first +newest-first\n/);
  const narrow = renderDiffText(diff, { ...NO_SCREEN, columns: 60 }).split('\n');
  t.same(
    narrow.filter(({ length }) => length > 60).concat(narrow.filter((line) => /^ {6}one came/.test(line))),
    ['      one came otherwise; asked for: as one asks'],
  );
  const page = renderDiffHtml(diff);
  t.match(page, `<h1>${headline}</h1>`);
  t.match(page, /<th scope="row">one<\/th>[\s\S]*<b class="fail">Broke<\/b>/);
  t.match(renderDiffText(diffReports(notConformantReport(), notConformantReport())), /^No change\n/);
});
