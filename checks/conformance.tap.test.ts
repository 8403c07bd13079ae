import t from 'tap';
import { Parser, type Result } from 'tap-parser';
import { bailedOut, conformanceTap, type TapRequirement } from './conformance.tap.ts';

const ROW: TapRequirement = {
  id: 'list-limit-maximum',
  section: '4.1',
  level: 'MUST',
  title: 'Never more animals # than limit',
  statement: 'limit sets the largest number.',
  verdict: 'pass',
  reason: 'held',
};

/** The points of a TAP text as another program reads them, and what its subtests say. */
function read(tap: string) {
  const points: Result[] = [];
  const inner: Result[] = [];
  let summary = { ok: true, count: 0, fail: 0, skip: 0, todo: 0 };
  const parser = new Parser((results) => {
    summary = results;
  });
  parser.on('assert', (point: Result) => points.push(point));
  parser.on('child', (child: Parser) => child.on('assert', (point: Result) => inner.push(point)));
  parser.end(tap);
  return { points, inner, summary };
}

t.test('a check is a subtest; what is not verified is not ok, what does not apply is skipped', async (t) => {
  const tap = await conformanceTap({
    requirements: [
      ROW,
      {
        ...ROW,
        id: 'a',
        verdict: 'fail',
        reason: 'too many',
        expected: 'at most 5',
        actual: '6: "x"\n# y',
        curl: 'curl -i',
      },
      { ...ROW, id: 'b', verdict: 'fail', baselined: true },
      { ...ROW, id: 'c', verdict: 'inconclusive', reason: 'needs the permission writes' },
      { ...ROW, id: 'd', verdict: 'inconclusive', level: 'MAY', reason: 'needs the permission ban' },
      { ...ROW, id: 'e', verdict: 'not-applicable', reason: 'not before 2030' },
    ],
    drifts: [],
    problems: [],
  });
  t.match(tap, /^TAP version 14\n1\.\.6\n/);
  const { points, inner, summary } = read(tap);
  t.match(points, [
    { ok: true, name: 'list-limit-maximum (4.1) Never more animals # than limit' },
    { ok: false, todo: false, skip: false },
    { ok: false, todo: 'known failure, listed in the baseline' },
    { ok: false, todo: false, skip: false },
    { ok: true, skip: 'not verified: needs the permission ban' },
    { ok: true, skip: 'not before 2030' },
  ]);
  t.match(inner.find(({ name }) => name === 'too many')?.diag, {
    asks: ROW.statement,
    expected: 'at most 5',
    actual: '6: "x"\n# y',
    curl: 'curl -i',
  });
  t.notMatch(tap, /at:|stack:|source:/, 'no line of the harness is to blame');
  t.match(summary, { ok: false, count: 6, fail: 3, skip: 2, todo: 1 });
});

t.test('an answer that drifted, and a run that is not green for another reason, are not ok', async (t) => {
  const drifted = read(
    await conformanceTap({
      requirements: [ROW],
      drifts: [{ id: 'unknown-path', pinned: '404', observed: '400', detail: 'GET /x' }],
      problems: [],
    }),
  );
  t.match(drifted.points, [{ ok: true }, { ok: false, name: 'gap unknown-path' }]);
  const cutShort = read(
    await conformanceTap({ requirements: [ROW], drifts: [], problems: ['The run ended early: SIGINT'] }),
  );
  t.match(cutShort.points[1], { ok: false, name: 'run: The run ended early: SIGINT' });
  t.equal(cutShort.summary.ok, false);
});

t.test('nothing to judge is a bail-out, never a green run', (t) => {
  t.equal(read(bailedOut('cannot be reached')).summary.ok, false);
  t.end();
});

t.test('the exit code of the process stays the command’s', async (t) => {
  const before = process.exitCode;
  await conformanceTap({ requirements: [{ ...ROW, verdict: 'fail' }], drifts: [], problems: [] });
  t.equal(process.exitCode, before);
});
