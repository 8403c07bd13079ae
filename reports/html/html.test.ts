import t from 'tap';
import { HOSTILE_STRINGS, hostileReport, UNSEEN_CHARACTER } from '../testing/hostile-report.ts';
import { errorBody, petList, sampleExchange } from '../testing/sample-exchanges.ts';
import { conformantReport, inconclusiveReport, notConformantReport } from '../testing/sample-reports.ts';
import { comparison, marksOf } from './differences.ts';
import { renderHtml } from './html.ts';
import { bodyHtml } from './json-colours.ts';
import { timeTicks } from './time-axis.ts';

const MEGABYTE = 1_000_000;

t.test('a full run stays under a megabyte, whatever the target sent', async (t) => {
  for (const make of [conformantReport, notConformantReport, inconclusiveReport, hostileReport]) {
    const bytes = Buffer.byteLength(renderHtml(make()));
    t.ok(bytes < MEGABYTE, `${make.name}: ${bytes} bytes`);
  }
  const report = notConformantReport();
  const exchanges = Array.from({ length: 5_000 }, (_, index) =>
    sampleExchange(
      `rate-day-free#${index}`,
      index,
      'free-1',
      { operation: 'listPets', method: 'GET', path: '/pets' },
      {
        status: 200,
        body: petList(100),
      },
    ),
  );
  const all = [...report.exchanges, ...exchanges];
  const page = renderHtml({ ...report, exchanges: all });
  t.ok(Buffer.byteLength(page) < MEGABYTE, `${all.length} exchanges: ${Buffer.byteLength(page)} bytes`);
  t.match(page, /[\d,]+ more are in report\.json/);
  t.match(page, 'error-status-matches#1</code>', 'evidence of failures has precedence');
  const broken = report.requirements.map((row) => ({
    ...row,
    verdict: 'fail' as const,
    actual: '"'.repeat(9_000),
    curl: `curl '${'&'.repeat(9_000)}'`,
  }));
  const red = Buffer.byteLength(renderHtml({ ...report, requirements: broken, exchanges: all }));
  t.ok(red < MEGABYTE, `everything broken, with commands of 9,000 characters: ${red} bytes`);
});

t.test('nothing in the page names another address to fetch from', async (t) => {
  const page = renderHtml(conformantReport());
  t.match(
    page,
    /<meta http-equiv="Content-Security-Policy" content="default-src &#39;none&#39;; style-src &#39;sha256-[^ ]+&#39;; script-src &#39;sha256-/,
  );
  t.notMatch(page, / (src|srcset|action|data)="/);
  t.strictSame(page.match(/href="(?!#)[^"]*"/g), null, 'links lead within the page');
  t.notMatch(page, /url\(/);
});

t.test('the same report gives the same page', async (t) => {
  t.equal(renderHtml(notConformantReport()), renderHtml(notConformantReport()));
});

t.test('a body keeps every character that is no white space between tokens', async (t) => {
  const text = (body: string) =>
    String(bodyHtml(body, 10_000, new Set()))
      .replace(/<[^>]+>/g, '')
      .replaceAll('&quot;', '"');
  t.equal(
    text('{"id":9223372036854775807,"a":-1.50e+2,"b":[],"c":{},"a":[true,null]}'),
    '{\n  "id": 9223372036854775807,\n  "a": -1.50e+2,\n  "b": [],\n  "c": {},\n  "a": [\n    true,\n    null\n  ]\n}',
  );
  t.equal(text('{"cut":'), '{"cut":', 'what is no JSON is shown as it came');
  t.match(
    String(bodyHtml('{"status":200,"x":1}', 100, new Set(['status']))),
    /<mark>.*status.*<\/mark>: <mark>.*200.*<\/mark>/,
  );
  t.match(String(bodyHtml(petList(100), 500, new Set())), /the body has [\d,]+ characters/);
  for (const hostile of HOSTILE_STRINGS) {
    const shown = String(bodyHtml(JSON.stringify({ [hostile]: hostile }), 2_000, new Set()));
    t.notMatch(shown, UNSEEN_CHARACTER);
    t.notMatch(shown.replace(/<\/?(i|mark)( class="\w+")?>/g, ''), /[<>]/, 'no tag but our own');
  }
});

t.test('what a failure names is marked in its exchange', async (t) => {
  const [row] = notConformantReport().requirements.filter(({ id }) => id === 'rate-headers-on-401');
  if (row === undefined) throw new Error('no such row');
  const exchange = sampleExchange(
    'a#1',
    1,
    null,
    { operation: 'listPets', method: 'GET', path: '/pets' },
    {
      status: 401,
      body: errorBody(401, 'no'),
      without: ['x-ratelimit-remaining'],
    },
  );
  const marks = marksOf(row, exchange);
  t.strictSame([...marks.headers], ['x-ratelimit-limit', 'x-ratelimit-reset']);
  t.strictSame(marks.missingHeaders, ['X-RateLimit-Remaining']);
  t.equal(marksOf({ ...row, verdict: 'pass' }, exchange).headers.size, 0, 'nothing where nothing is broken');
});

t.test('of sentences that differ in words only what is a value is marked', async (t) => {
  const marks = (expected: string, actual: string) => {
    const compared = comparison(expected, actual);
    return [compared.expected, compared.actual].map(
      (side) => String(side).match(/(?<=<mark>).*?(?=<.mark>)/g) ?? [],
    );
  };
  t.strictSame(marks('300 requests admitted in a minute with a key of plan pro', '310 were admitted'), [
    ['300'],
    ['310'],
  ]);
  t.strictSame(marks('the field status is 404', 'the field status was 404'), [['is'], ['was']]);
});

t.test('the card of what is broken says what was asked and what came', async (t) => {
  const page = renderHtml(notConformantReport());
  const card = page.slice(page.indexOf('id="broken"'), page.indexOf('id="not-verified"'));
  const row = notConformantReport().requirements.find(({ id }) => id === 'error-status-matches');
  t.match(card, `<dt>asks</dt><dd>${row?.expected}</dd><dt>came</dt><dd>${row?.actual}</dd>`);
});

t.test('the card of a drifted answer says what is pinned and what came', async (t) => {
  const page = renderHtml(notConformantReport());
  t.match(page, /Drifted: [^<]*<\/a>[^\n]*\n<div><del>− bearer<\/del> <ins>\+ none<\/ins>/);
});

t.test('a list that drifted says what was added and removed', async (t) => {
  const report = conformantReport();
  const gaps = report.gaps.map((gap) =>
    gap.id === 'error-codes'
      ? { ...gap, observed: '400 bad, 404 gone', pinned: '400 bad, 401 unknown', verdict: 'drifted' as const }
      : gap,
  );
  const page = renderHtml({ ...report, gaps });
  t.match(page, '<div><del>− 401 unknown</del> <ins>+ 404 gone</ins>');
});

t.test('each exchange is shown once, beneath a requirement that cites it', async (t) => {
  const page = renderHtml(conformantReport());
  const ids = page.match(/<details class="x" id="x\d+">/g) ?? [];
  t.equal(ids.length, conformantReport().exchanges.length);
  t.equal(new Set(ids).size, ids.length);
  const row = page.slice(page.indexOf('id="r-list-answers-200"'), page.indexOf('id="r-list-limit-range"'));
  t.equal(row.match(/<details class="x"/g)?.length, 3);
});

t.test('a notice stands once, and what made the run red is told', async (t) => {
  const notices = renderHtml(inconclusiveReport()).match(/(?<=<p class="notice">)[^<]*/g) ?? [];
  t.strictSame(notices, [
    'The run ended early: SIGINT',
    'The clock of this run was simulated: 60 times as fast as real time.',
  ]);
  t.equal(renderHtml(inconclusiveReport()).match(/simulated/g)?.length, 1);
  const problem = 'list-order passes now: remove it from the baseline (known.yaml:3)';
  const stale = renderHtml({ ...conformantReport(), verdict: 'not-conformant', problems: [problem] });
  t.match(stale, `<p class="notice">${problem}</p>`);
});

t.test('earlier runs stand at the top, the latest first, with what each changed', async (t) => {
  const earlier = [conformantReport(), notConformantReport()];
  const page = renderHtml(conformantReport(), earlier);
  const list = page.slice(page.indexOf('id="history"'), page.indexOf('class="run"'));
  t.equal(list.match(/<li>/g)?.length, 3);
  t.match(list, /This run<[\s\S]*6 fixed[\s\S]*Not conformant[\s\S]*5 broke/);
});

t.test('ticks of every run length fit their axis', async (t) => {
  for (const length of [1, 7, 59, 119.4, 600, 6_000, 86_400, 900_000]) {
    const ticks = timeTicks(length);
    const narrow = ticks.filter(({ needs }) => needs === 300);
    t.ok(
      narrow.length >= 1 && narrow.length <= 6,
      `${length} s: ${narrow.map(({ text }) => text).join(' ')}`,
    );
    t.ok(ticks.length <= 161, `${ticks.length} in all`);
  }
});
