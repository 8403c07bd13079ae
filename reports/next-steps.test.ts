import t from 'tap';
import { nextSteps } from './next-steps.ts';
import type { Report } from './report.ts';
import { conformantReport, notConformantReport } from './testing/sample-reports.ts';

/** A report whose first requirements were not verified, for these reasons. */
function open(
  reasons: readonly string[],
  command = 'npx petstore-harness check --profile p.yaml',
  permissions: Report['run']['permissions'] = [],
): Report {
  const report = conformantReport();
  return {
    ...report,
    verdict: 'inconclusive',
    run: { ...report.run, command, permissions },
    requirements: report.requirements.map((row, index) => {
      const reason = reasons[index];
      return reason === undefined
        ? row
        : { ...row, level: 'MUST', verdict: reason.startsWith('needs') ? 'skipped' : 'inconclusive', reason };
    }),
  };
}

t.test('a permission that is missing stands in the command', async (t) => {
  const reasons = ['needs the permission ban', 'needs the permission writes', 'needs the permission writes'];
  t.strictSame(nextSteps(open(reasons)), [
    {
      what: 'To verify 2 more: permit writes',
      command: 'npx petstore-harness check --profile p.yaml --permit writes',
    },
    {
      what: 'To verify 1 more: permit ban',
      command: 'npx petstore-harness check --profile p.yaml --permit ban',
    },
  ]);
  t.match(nextSteps(open(reasons, 'npx petstore-harness check --permit exhaust --only bans', ['exhaust'])), [
    { command: 'npx petstore-harness check --only bans --permit exhaust,writes' },
    { command: 'npx petstore-harness check --only bans --permit exhaust,ban' },
  ]);
  const permitted = open(reasons, 'npx petstore-harness check --profile p.yaml', ['day']);
  t.match(nextSteps(permitted)[0], { command: / --permit day,writes$/ }, 'what the profile permits too');
});

t.test('a key that is missing is to be added', async (t) => {
  t.strictSame(
    nextSteps(
      open(['the profile has no key of plan pro with the role exhaust', 'no usable key has the role ban']),
    ),
    [
      { what: 'To verify 1 more: add a key of plan pro with the role exhaust to the profile' },
      { what: 'To verify 1 more: add a key with the role ban to the profile' },
    ],
  );
});

t.test('what --only left out comes with a run without it', async (t) => {
  const reasons = ['left out by --only', 'left out by --only'];
  t.strictSame(nextSteps(open(reasons, "npx petstore-harness check --only 'a b',4.1 --profile p.yaml")), [
    { what: 'To verify 2 more: run all', command: 'npx petstore-harness check --profile p.yaml' },
  ]);
});

t.test('an interrupted run goes on, unless its target is gone with it', async (t) => {
  const report = conformantReport();
  const { resume: _, ...run } = { ...report.run, interrupted: 'SIGINT' };
  const command = 'npx petstore-harness check --resume results';
  t.match(nextSteps({ ...report, run: { ...run, resume: command } }), [
    { what: 'Continue the run', command },
  ]);
  t.match(nextSteps({ ...report, run }), [{ what: 'Run it again', command: run.command }]);
});

t.test('what another run may tell', async (t) => {
  const command = 'npx petstore-harness check --profile p.yaml';
  t.strictSame(nextSteps(open(['the requests were too slow to fill the minute of key pro-1'])), [
    { what: 'To verify 1 more: run closer to the target, or when both are less busy', command },
  ]);
  t.strictSame(nextSteps(open(['429 for key free-1 …, as if another client were using the key'])), [
    { what: 'To verify 1 more: use keys that no other client uses', command },
  ]);
  t.strictSame(nextSteps(open(['no exchange of this run shows it', 'no answer'])), [
    { what: 'Run again: 2 requirements could not be judged this time, each for its own reason', command },
  ]);
});

t.test('three steps are enough, those that verify most', async (t) => {
  const reasons = ['writes', 'exhaust', 'exhaust', 'ban', 'ban', 'day', 'day'].map(
    (permission) => `needs the permission ${permission}`,
  );
  t.strictSame(
    nextSteps(open(reasons)).map(({ what }) => what),
    ['exhaust', 'ban', 'day'].map((permission) => `To verify 2 more: permit ${permission}`),
  );
});

t.test('what is broken comes first; where nothing is left there is nothing to do', async (t) => {
  t.match(nextSteps(notConformantReport())[0], {
    what: 'Repeat only what is broken',
    command: / --only [a-z0-9-]+(,[a-z0-9-]+)*$/,
  });
  t.match(nextSteps(conformantReport()), [{ what: 'Nothing to do; repeat after every change' }]);
});
