import { join } from 'node:path';
import t from 'tap';
import { listPets } from '../../wire/requests.ts';
import { Journal, readJournal } from '../journal.ts';
import { JOURNAL_HEADER } from '../testing/stored-run.ts';
import { NOON, testKey, testRun } from '../testing/test-run.ts';
import { RunEnded } from '../unsettled.ts';

const RESET = { kind: 'failure', reason: 'reset', message: 'the connection was reset' } as const;

t.test('an exchange is journalled as soon as it is over, and told', async (t) => {
  const file = join(t.testdir(), 'journal.ndjson');
  const journal = new Journal(file, JOURNAL_HEADER, 1);
  const { run, events } = testRun((_request, number) => (number === 4 ? RESET : {}), { journal });
  const probe = run.probe('check');
  await probe.attempt(listPets(), testKey());
  await probe.burst([listPets(), listPets(), listPets()], testKey(), { inFlight: 1 });
  await probe.burst([listPets(), listPets()], testKey(), { inFlight: 1, tallied: true });
  journal.close();
  const stored = readJournal(file);
  t.match(stored, {
    ok: true,
    entries: [
      { session: 1 },
      { exchange: { id: 'check#1' } },
      { exchange: { id: 'check#2' } },
      { exchange: { id: 'check#3' } },
      { exchange: { id: 'check#4', outcome: RESET } },
      { tallied: 2, key: 'free-1' },
    ],
  });
  t.equal(events.length, 6);
});

t.test('a later process of the run says so on its exchanges', async (t) => {
  const stored = { ok: true, header: {} as never, entries: [], sessions: 1, warnings: [] } as const;
  t.notOk('session' in (await testRun().run.probe('check').attempt(listPets(), testKey())));
  const resumed = testRun(undefined, { stored });
  t.match(await resumed.run.probe('check').attempt(listPets(), testKey()), { session: 2 });
});

t.test('after an interruption nothing is sent or waited for', async (t) => {
  const stopping = new AbortController();
  const { run, sent, events } = testRun(undefined, { signal: stopping.signal });
  stopping.abort(new Error('SIGINT'));
  await t.rejects(run.probe('check').attempt(listPets(), testKey()), new RunEnded('interrupted'));
  await t.rejects(run.sender.waitUntil(NOON + 1000, 'a window'), new RunEnded('interrupted'));
  t.equal(sent.length, 0);
  t.strictSame(
    events.map(({ kind }) => kind),
    ['waiting', 'waited'],
  );
});

t.test('a wait is told when it begins and ends; what has come already is not waited for', async (t) => {
  const { run, events, clock } = testRun();
  await run.sender.waitUntil(NOON, 'nothing');
  await run.sender.waitUntil(NOON + 5000, 'a window');
  t.strictSame(events, [
    { kind: 'waiting', until: NOON + 5000, for: 'a window' },
    { kind: 'waited', for: 'a window' },
  ]);
  t.equal(clock.now(), NOON + 5000);
});

t.test('a target that was silent for longer than the run’s patience is sent nothing more', async (t) => {
  const { run, sent } = testRun(() => RESET, { patience: 0 });
  const probe = run.probe('check');
  for (const count of [1, 2, 3]) {
    t.equal(run.sender.presence.gone, undefined, `before request ${count}`);
    await probe.attempt(listPets(), testKey());
  }
  await t.rejects(probe.attempt(listPets(), testKey()), {
    name: 'RunEnded',
    message: /^the target stopped answering/,
  });
  t.equal(sent.length, 3);
});

t.test('waits in vain are forgotten once a request of the key is admitted', async (t) => {
  const { run } = testRun((_request, number) => ({ status: number === 1 ? 429 : 200 }));
  const { waitsInVain } = run.sender;
  waitsInVain.set('free-1', 2);
  await run.probe('check').attempt(listPets(), testKey());
  t.equal(waitsInVain.get('free-1'), 2);
  await run.probe('check').attempt(listPets(), testKey());
  t.equal(waitsInVain.get('free-1'), undefined);
});
