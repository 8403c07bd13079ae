import t from 'tap';
import { buildReport } from './build-report.ts';
import { runItself } from './test-run.ts';
import {
  broken,
  conformantReport,
  inconclusiveReport,
  notConformantReport,
  reportWith,
  row,
  unpermitted,
  untold,
} from './testing/sample-reports.ts';

// Those of the sample reports are stored, see rendered.test.ts.
t.test('the headline says the verdict and its numbers', async (t) => {
  const stale = 'delete one from the baseline (known.yaml:3), it passes now';
  const missing = { kind: 'no-key', wanted: { plan: 'pro', role: 'exhaust' } } as const;
  for (const [report, headline, short] of [
    [
      reportWith([
        row('one'),
        unpermitted('two', 'day'),
        unpermitted('three', 'ban'),
        row('four', { verdict: 'skipped', why: [missing] }),
        row('five', { verdict: 'not-applicable' }),
      ]),
      'Nothing broken: 1 of 1 asked for, 3 skipped (ban, day not permitted; no key of plan pro with the role exhaust)',
      'Nothing broken: 1 of 1 asked for',
    ],
    [
      reportWith([broken('one'), broken('two', { consequenceOf: 'one' })]),
      'Not conformant: 2 of 2 requirements broken, 1 cause',
      'Not conformant: 2 of 2 requirements broken, 1 cause',
    ],
    [
      reportWith([row('one'), broken('two', { baselined: true })]),
      'Nothing new broken: 1 of 2 requirements verified, 1 covered by the baseline',
      'Nothing new broken: 1 of 2 requirements verified',
    ],
    [
      reportWith([row('one')], { problems: [stale] }),
      `Inconclusive: ${stale}, 1 of 1 requirement verified`,
      `Inconclusive: ${stale}`,
    ],
    [reportWith([], { problems: ['not reached'] }), 'Nothing to judge: not reached', 'Nothing to judge'],
  ] as const)
    t.match(buildReport(report), { headline, short });
});

t.test('causes come first, with what follows from them', async (t) => {
  const built = buildReport(
    reportWith([
      broken('small'),
      broken('large'),
      { ...untold('one', 'x'), consequenceOf: 'large' },
      { ...broken('two'), consequenceOf: 'large' },
      { ...untold('orphan', 'x'), consequenceOf: 'gone' },
    ]),
  );
  t.match(built.causes, [
    { row: { id: 'large' }, follow: [{ id: 'one' }, { id: 'two' }] },
    { row: { id: 'small' }, follow: [] },
  ]);
  t.match(built.notVerified, [{ rows: [{ id: 'orphan' }] }]);
  t.equal(built.cases.find(({ id }) => id === 'one')?.reason, 'Not verified: Follows from large: x');
});

t.test('of reasons the one of most rows comes first', async (t) => {
  const rows = [unpermitted('one', 'day'), unpermitted('two', 'ban'), unpermitted('three', 'ban')];
  for (const order of [rows, rows.toReversed()])
    t.match(buildReport(reportWith(order)).skipped, [{ rows: { length: 2 } }, { rows: { length: 1 } }]);
});

t.test('the run itself is a case that is never green if the run is not', async (t) => {
  t.match(runItself(buildReport(conformantReport())), { standing: 'pass', name: 'the run as a whole' });
  const ended = runItself(buildReport(inconclusiveReport()));
  t.match(ended, { standing: 'inconclusive', name: 'the run as a whole', reason: /ended early: SIGINT/ });
  const nothing = { ...reportWith([unpermitted('one', 'day')]), verdict: 'inconclusive' as const };
  t.match(buildReport(nothing).problems, ['Nothing was verified']);
});

t.test('what to do next, and the command that does it', async (t) => {
  const steps = (report: Parameters<typeof buildReport>[0]) => buildReport(report).steps;
  const command = 'petstore-harness check --profile staging.yaml';
  t.match(steps(conformantReport()), [{ what: /^Nothing to do/ }]);
  t.strictSame(steps(notConformantReport()), [
    { what: 'Repeat only what is broken', command: `${command} --permit writes --only two,one` },
    { what: 'To verify 1 more: permit day', command: `${command} --permit writes,day` },
    { what: 'Restore the pinned answers, or pin the new ones in the profile under gaps:' },
  ]);
  const aside = broken('three', { why: [{ kind: 'broken', times: 1, aside: true }] });
  t.match(steps(reportWith([broken('one'), aside])), [
    { what: 'Repeat only what is broken', command: /--only one$/ },
    { what: 'Repeat the run for three: requests of other rows show it', command: /^(?!.*--only)/ },
  ]);
  const interrupted = { ...notConformantReport(), run: inconclusiveReport().run };
  t.match(
    steps(interrupted).map(({ command: text }) => text),
    ['petstore-harness check --resume petstore-results', /--only two,one$/],
    'broken and interrupted: it can be continued',
  );
  const lost = row('lost', { verdict: 'inconclusive', why: [{ kind: 'lost', what: 'no answer' }] });
  t.match(
    steps(reportWith([lost, unpermitted('one', 'day'), unpermitted('two', 'day')])).map(({ what }) => what),
    [/^Run again: 1 requirement could not be judged this time/, 'To verify 2 more: permit day'],
    'first what the exit code comes from',
  );
  const open = row('open', { verdict: 'inconclusive', why: [{ kind: 'ended', by: 'bill', what: 'x' }] });
  t.match(steps(reportWith([broken('one'), open]))[1], { what: /^Mend what is broken and run again: 1 req/ });
  const because = (id: string, why: Parameters<typeof row>[1]) => row(id, { verdict: 'skipped', ...why });
  t.match(
    steps(
      reportWith([
        row('zero'),
        because('one', { why: [{ kind: 'no-key', wanted: { plan: 'pro', role: 'ban' } }] }),
        because('two', { why: [{ kind: 'left-out' }] }),
        because('three', { why: [{ kind: 'left-out' }] }),
        row('four', { verdict: 'inconclusive', why: [{ kind: 'interference', what: 'x' }] }),
      ]),
    ).map(({ what }) => what),
    [
      'To verify 1 more: use keys that no other client uses',
      'To verify 2 more: leave out --only',
      'To verify 1 more: add a key of plan pro with the role ban to the profile',
    ],
  );
  t.match(steps(reportWith([row('one'), untold('two', 'x')])), [
    { what: /^Run again: 1 requirement could not/ },
  ]);
  t.match(steps(reportWith([row('one')], { problems: ['delete known.yaml:3'] })), [
    { what: 'delete known.yaml:3' },
  ]);
  const only = { ...conformantReport().run, command: `${command} --only one --permit 'a b',c` };
  t.match(steps({ ...notConformantReport(), run: only }), [
    { command: `${command} --permit 'a b',c --only two,one` },
    { command: `${command} --only one --permit writes,day` },
  ]);
});

t.test('somebody else on a key is told above all else', async (t) => {
  const why = [{ kind: 'interference', what: '5 of 6 were admitted', key: 'free-1' }] as const;
  const report = reportWith([row('one', { verdict: 'inconclusive', why })]);
  t.strictSame(buildReport(report).notices, [
    'Perhaps somebody else used a key: 5 of 6 were admitted, as if another client were using key free-1',
  ]);
});
