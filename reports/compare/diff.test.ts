import { micromark } from 'micromark';
import { gfm, gfmHtml } from 'micromark-extension-gfm';
import t from 'tap';
import type { GapResult, Report, RequirementResult } from '../report.ts';
import { hostileReport, UNSEEN_CHARACTER } from '../testing/hostile-report.ts';
import { conformantReport, inconclusiveReport, notConformantReport } from '../testing/sample-reports.ts';
import { diffReports } from './diff.ts';
import { renderDiffJson, renderDiffMarkdown, renderDiffText } from './diff-renderers.ts';

function withRow(id: string, change: Partial<RequirementResult>): Report {
  const report = conformantReport();
  return {
    ...report,
    requirements: report.requirements.map((row) => (row.id === id ? { ...row, ...change } : row)),
  };
}

function withGap(id: string, change: Partial<GapResult>): Report {
  const report = conformantReport();
  return { ...report, gaps: report.gaps.map((row) => (row.id === id ? { ...row, ...change } : row)) };
}

const good = conformantReport();

t.test('a run compared with itself', async (t) => {
  const diff = diffReports(notConformantReport(), notConformantReport());
  t.match(diff, { regression: false, requirements: [], gaps: [] });
  t.match(renderDiffText(diff), /^No change\n/);
});

t.test('what breaks is a regression, what is fixed is none', async (t) => {
  const broken = withRow('list-each-once', { verdict: 'fail', reason: 'Twice.' });
  t.match(diffReports(good, broken), {
    regression: true,
    requirements: [{ id: 'list-each-once', was: 'pass', is: 'fail', kind: 'broke', reason: 'Twice.' }],
  });
  t.match(diffReports(broken, good), { regression: false, requirements: [{ kind: 'fixed' }] });
});

t.test('what broke is told with what was asked', async (t) => {
  const broken = withRow('list-each-once', {
    verdict: 'fail',
    reason: '3 animals (2 times)',
    expected: '4 animals',
  });
  t.match(renderDiffText(diffReports(good, broken)), '    3 animals (2 times); asked for: 4 animals\n');
});

t.test('a failure that the baseline lists is no regression; one that it no longer lists is', async (t) => {
  const known = withRow('list-each-once', { verdict: 'fail', baselined: true });
  t.match(diffReports(good, known), {
    regression: false,
    requirements: [{ is: 'known-failure', kind: 'changed' }],
  });
  t.match(diffReports(known, withRow('list-each-once', { verdict: 'fail' })), { regression: true });
});

t.test('what is no longer verified is a regression: not looking must not pass a gate', async (t) => {
  t.match(diffReports(good, withRow('list-each-once', { verdict: 'inconclusive' })), {
    regression: true,
    requirements: [{ kind: 'no-longer-verified' }],
  });
  const without = { ...good, requirements: good.requirements.filter(({ id }) => id !== 'list-each-once') };
  t.match(diffReports(good, without), {
    regression: true,
    requirements: [{ is: 'absent', kind: 'no-longer-verified' }],
  });
  t.match(diffReports(without, good), { regression: false, requirements: [{ kind: 'newly-verified' }] });
  t.match(diffReports(good, withRow('list-each-once', { verdict: 'not-applicable' })), {
    regression: false,
    requirements: [{ kind: 'changed' }],
  });
});

t.test('answers to gaps: unpinned changes are news, a broken pin is a regression', async (t) => {
  const changed = withGap('list-order', { observed: 'newest-first' });
  t.match(diffReports(good, changed), {
    regression: false,
    gaps: [{ id: 'list-order', was: 'oldest-first', is: 'newest-first', breaksPin: false }],
  });
  const drifted = withGap('list-order', {
    observed: 'newest-first',
    pinned: 'oldest-first',
    verdict: 'drifted',
  });
  t.match(diffReports(good, drifted), { regression: true, gaps: [{ breaksPin: true }] });
  t.match(diffReports(good, withGap('list-order', { observed: null, verdict: 'not-observed' })), {
    gaps: [],
  });
});

t.test('a pin that the answer never kept names the pin, and no change that was none', async (t) => {
  const now = withGap('list-order', { pinned: 'newest-first', verdict: 'drifted' });
  const diff = diffReports(good, now);
  t.match(diff.gaps, [{ was: 'oldest-first', is: 'oldest-first', pinned: 'newest-first', breaksPin: true }]);
  t.match(renderDiffText(diff), '≠ list-order (4.1) answers oldest-first; the profile pins newest-first\n');
  t.match(renderDiffMarkdown(diff), '❌ the profile pins <code>newest-first</code>');
});

t.test('the three renderings say the same', async (t) => {
  const diff = diffReports(good, notConformantReport());
  t.same(JSON.parse(renderDiffJson(diff)), diff);
  const text = renderDiffText(diff);
  t.match(text, /^Regression: 5 broke, 4 no longer verified, 1 changed otherwise, 1 pinned answer drifted\n/);
  t.match(text, /✘ error-status-matches \(2\) is fail, was pass\n {4}The field status of the Error is 200/);
  t.match(text, /≠ authentication-challenge \(5\) answers none; the profile pins bearer\n/);
  t.match(renderDiffText(diff, true), '\u001b[31m');
  const page = micromark(renderDiffMarkdown(diff), {
    allowDangerousHtml: true,
    extensions: [gfm()],
    htmlExtensions: [gfmHtml()],
  });
  t.match(page, /^<h2>❌ Regression: 5 broke/);
  t.match(page, /<h3>Broke \(5\)<\/h3>\n<table>[\s\S]*<strong>error-status-matches<\/strong>/);
  t.match(renderDiffText(diffReports(inconclusiveReport(), good)), /^No regression: \d+ newly verified/);
});

t.test('hostile text is text', async (t) => {
  const diff = diffReports(good, hostileReport());
  t.notMatch(renderDiffText(diff), UNSEEN_CHARACTER);
  t.notMatch(renderDiffMarkdown(diff), UNSEEN_CHARACTER);
  t.notMatch(renderDiffMarkdown(diff), '<script');
});
