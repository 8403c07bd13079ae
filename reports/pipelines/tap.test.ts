import t from 'tap';
import { Parser, type Result } from 'tap-parser';
import { FORMATS } from '../formats.ts';
import type { Report } from '../report.ts';
import { checkRun } from '../test-run.ts';
import { hostileReport, UNSEEN_CHARACTER } from '../testing/hostile-report.ts';
import { conformantReport, inconclusiveReport, notConformantReport } from '../testing/sample-reports.ts';
import { LiveTap } from './tap.ts';

const renderTap = FORMATS.tap.render;

/** What a TAP consumer in strict mode makes of a report. */
function read(report: Report) {
  const points: Result[] = [];
  const parser = new Parser({ strict: true });
  parser.on('assert', (result: Result) => points.push(result));
  parser.end(renderTap(report));
  return {
    results: parser.results,
    points,
    named: (id: string) => points.find(({ name }) => name.startsWith(`${id} `)),
  };
}

t.test('a consumer counts what is broken, drifted or not verified', async (t) => {
  const { results, named } = read(notConformantReport());
  t.match(results, { ok: false, fail: 7, todo: 1, bailout: false }, '5 broken, 1 drifted, 1 known');
  t.match(named('error-status-matches'), {
    ok: false,
    diag: {
      actual: 'Error.status is 200, the HTTP status of the response is 404',
      curl: /PETSTORE_FREE_KEY/,
      exchange: /^GET \/pets\/9223372036854775807\n\nHTTP 404\n[\s\S]*"status":200/,
    },
  });
  t.match(named('rate-day-free'), { ok: true, skip: 'needs the permission day' });
  const open = read(inconclusiveReport()).named('rate-minute-free');
  t.match(open, { ok: false, skip: false, diag: { verdict: 'inconclusive' } });
  t.match(named('json-well-formed'), { ok: false, todo: /known failure/ });
  t.match(named('interface-version'), { ok: true, skip: /\(not applicable\)$/ });
});

t.test('green if and only if the run is conformant', async (t) => {
  const good = conformantReport();
  t.match(read(good).results, { ok: true, fail: 0, count: good.requirements.length + 2 });
  t.equal(read(inconclusiveReport()).results?.ok, false);
  t.equal(
    read({ ...good, verdict: 'inconclusive', requirements: [], gaps: [] }).results?.ok,
    false,
    'nothing ran',
  );
});

t.test('a title may hold what TAP reads as a directive', async (t) => {
  const good = conformantReport();
  const title = 'C# # TODO not yet \\# SKIP';
  const { named } = read({ ...good, requirements: good.requirements.map((row) => ({ ...row, title })) });
  t.match(named('list-answers-200'), {
    ok: true,
    todo: false,
    skip: false,
    name: `list-answers-200 (4.1) ${title}`,
  });
});

t.test('hostile text is text', async (t) => {
  const hostile = hostileReport();
  t.notMatch(renderTap(hostile), UNSEEN_CHARACTER);
  const { results } = read(hostile);
  t.match(results, { ok: false, count: hostile.requirements.length + 3, bailout: false, failures: Array });
  const errors = results?.failures.flatMap((failure) =>
    'tapError' in failure ? (failure.tapError ?? []) : [],
  );
  t.strictSame(errors, [], 'nothing that the strict parser objects to');
});

t.test(
  'live: a case as soon as it is settled, at the end what it changed, the rest and the run',
  async (t) => {
    let text = '';
    const live = new LiveTap((more) => {
      text += more;
    });
    const run = checkRun(notConformantReport());
    const [first, second, ...others] = run.cases;
    if (first === undefined || second === undefined) throw new Error('no cases');
    live.settled(first);
    live.settled({ ...second, standing: second.standing === 'passed' ? 'failed' : 'passed' });
    t.equal(text.match(/^(not )?ok /gm)?.length, 2, 'told at once');
    live.end(run);
    const parser = new Parser({ strict: true });
    const points: Result[] = [];
    parser.on('assert', (result: Result) => points.push(result));
    parser.end(text);
    t.match(parser.results, { bailout: false, plan: { start: 1, end: others.length + 4 } });
    t.equal(points.filter(({ name }) => name === second.name).length, 2, 'what the end judged otherwise');
    t.equal(points.filter(({ name }) => name === first.name).length, 1);
    t.match(points.at(-1), { name: /^Pet Store interface: / });
  },
);
