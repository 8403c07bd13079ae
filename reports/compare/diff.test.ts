import stringWidth from 'string-width';
import t from 'tap';
import { requirements } from '../../spec/contract.ts';
import { FORMATS } from '../formats.ts';
import type { GapResult, Report, RequirementResult } from '../report.ts';
import type { Sheet } from '../sheet.ts';
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
import { diffReports } from './diff.ts';

const withRows = (...rows: RequirementResult[]) => reportWith([row('other'), ...rows]);

/** The words for what became of the first requirement. */
function shownChange({ tables }: Sheet) {
  const cell = tables[0]?.rows[0]?.[2];
  return typeof cell === 'object' ? cell.wrong : cell;
}

t.test('a row that was renamed is compared with what it was', async (t) => {
  const [
    {
      id,
      formerly: [former = ''],
    } = { id: '', formerly: [] },
  ] = requirements.filter(({ formerly }) => formerly.length > 0);
  t.equal(shownChange(diffReports(withRows(row(former)), withRows(row(id)))), undefined);
  t.equal(shownChange(diffReports(withRows(row(former)), withRows(broken(id)))), 'Broke');
});

t.test('what became of a requirement, and whether it is a regression', async (t) => {
  const known = broken('one', { baselined: true });
  for (const [was, is, kind, regression] of [
    [row('one'), broken('one'), 'Broke', true],
    [known, broken('one'), 'Broke', true],
    [undefined, broken('one'), 'Broke', true],
    [row('one'), untold('one', 'x'), 'No longer verified', true],
    [row('one'), unpermitted('one', 'ban'), 'No longer verified', true],
    [row('one'), undefined, 'No longer verified', true],
    [broken('one'), row('one'), 'Fixed', false],
    [known, row('one'), 'Fixed', false],
    [undefined, row('one'), 'Newly verified', false],
    [untold('one', 'x'), row('one'), 'Newly verified', false],
    [row('one'), known, 'Changed otherwise', false],
    [row('one'), row('one', { verdict: 'not-applicable' }), 'Changed otherwise', false],
    [unpermitted('one', 'ban'), undefined, undefined, false],
    [row('one'), row('one'), undefined, false],
  ] as const) {
    const before = was === undefined ? withRows() : withRows(was);
    const diff = diffReports(before, is === undefined ? withRows() : withRows(is));
    t.equal(shownChange(diff), kind, `${was?.verdict} to ${is?.verdict}`);
    t.equal(diff.verdict === 'fail', regression);
  }
  const noLongerSeen = diffReports(withRows(broken('one')), withRows(untold('one', 'too slow')));
  t.match(FORMATS.terminal.render(noLongerSeen), /Changed otherwise +broken → not verified +too slow\n/);
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
    [gap({ observed: 'b' }), ['list-order', '4.1', 'Answered otherwise', 'a → b', ''], false],
    [gap({ observed: null, verdict: 'not-observed' }), undefined, false],
    [
      gap({ observed: 'b', pinned: 'a', verdict: 'drifted' }),
      ['list-order', '4.1', { wrong: 'Drifted' }, 'a → b', 'the profile pins a'],
      true,
    ],
    [
      gap({ pinned: 'b', verdict: 'drifted' }),
      ['list-order', '4.1', { wrong: 'Drifted' }, 'a → a', 'the profile pins b'],
      true,
    ],
  ] as const) {
    const diff = diffReports(gap({}), is);
    t.strictSame(diff.tables[0]?.rows, change && [change]);
    t.equal(diff.verdict === 'fail', regression);
  }
});

t.test('text and page say the same', async (t) => {
  const diff = diffReports(conformantReport(), notConformantReport());
  const headline = 'Regression: 2 broke, 2 no longer verified, 1 drifted';
  const text = FORMATS.terminal.render(diff);
  t.match(text, `${headline}\n`);
  t.match(text, /\n {2}one +4\.1 +Broke +verified → broken +one came otherwise; asked for: as one asks\n/);
  t.match(
    text,
    /\n {2}list-order +4\.1 +Drifted +newest-first → oldest-first +the profile pins newest-first\n/,
  );
  const long = 'add-rejects-missing-category-id';
  const wide = diffReports(withRows(row(long)), withRows(untold(long, '宠物 '.repeat(40))));
  const narrow = [diff, wide].flatMap((one) =>
    FORMATS.terminal.render(one, { ...NO_SCREEN, columns: 60 }).split('\n'),
  );
  t.same(
    narrow
      .filter((line) => stringWidth(line) > 60)
      .concat(narrow.filter((line) => /^ {6}one came/.test(line))),
    ['      one came otherwise; asked for: as one asks'],
  );
  const page = FORMATS.html.render(diff);
  t.match(page, `</span> ${headline}</h1>`);
  t.match(page, /<th scope="row">one<\/th>[\s\S]*<b class="fail">Broke<\/b>/);
  t.match(
    FORMATS.terminal.render(diffReports(notConformantReport(), notConformantReport())),
    /\nNo change\n$/,
  );
});
