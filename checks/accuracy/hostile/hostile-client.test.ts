import t, { type Test } from 'tap';
import { type ClientRequest, createClient, type HttpClient, type TimeLimits } from '../../wire/client.ts';
import type { Exchange } from '../../wire/exchange.ts';
import { GOOD_REQUESTS, MISSED_REQUESTS } from './testing/changing-targets.ts';
import { AMPLE_LIMITS, type HostileTarget, limitsFor, SHORT_LIMITS } from './testing/hostile-target.ts';
import { hostileTargets } from './testing/hostile-targets.ts';
import { createAuthority, tlsTargets } from './testing/tls-targets.ts';

const KEY = 'sk_live+canary/4f9Zq7TrXy==';

const LIST: ClientRequest = {
  operation: 'listPets',
  method: 'GET',
  path: '/pets?limit=1',
  authorization: { kind: 'key', name: 'free-1', value: KEY },
};

/** What the time limits leave to a busy machine: timers, decompression, 20 MB of body. */
const SLACK_MS = 3000;

/** Long enough that a number or a word does not look like a part of a key. */
const PART = 8;

function leaks(exchange: Exchange): boolean {
  const text = JSON.stringify(exchange).toLowerCase();
  const bytes = Buffer.from(KEY);
  return [
    KEY,
    encodeURIComponent(KEY),
    bytes.toString('hex'),
    bytes.toString('base64'),
    bytes.toString('base64url'),
  ].some(
    (form) =>
      text.includes(form.slice(0, PART).toLowerCase()) ||
      text.includes(form.slice(-PART - 3, -3).toLowerCase()),
  );
}

function clientFor(target: HostileTarget, url: string, authorities?: string): HttpClient {
  return createClient({
    baseUrl: url,
    now: Date.now,
    secrets: [KEY],
    timeouts: limitsFor(target),
    ...(authorities === undefined ? {} : { authorities }),
  });
}

async function judge(t: Test, target: HostileTarget, authorities?: string): Promise<void> {
  const running = await target.start();
  const client = clientFor(target, running.url, authorities);
  t.teardown(async () => {
    await client.close();
    await running.close();
  });
  const first = await client.exchange(LIST, { id: 'first#1', sentBy: 'first' });
  const { outcome } = first;
  t.match(outcome, target.expected, 'the outcome');
  if (target.expected.kind === 'response' && target.expected.bodyProblem === undefined) {
    t.notOk('bodyProblem' in outcome, 'the body is the faithful text');
  }
  const limits = limitsFor(target);
  const longest = limits.connect + limits.headers + limits.body + SLACK_MS;
  t.ok(first.receivedAt - first.sentAt <= longest, `took ${first.receivedAt - first.sentAt} ms`);
  t.ok(running.requests.length <= 1, 'nothing was sent twice');
  t.strictSame(running.astray ?? [], [], 'nothing was sent elsewhere');

  const second = await client.exchange(LIST, { id: 'second#1', sentBy: 'second' });
  t.ok(running.requests.length <= 2, 'nor on a connection that had been kept');
  t.notOk(
    running.requests.some(({ head }) => /^cookie:/im.test(head)),
    'no cookie came back',
  );
  t.notOk(leaks(first) || leaks(second), 'no part of the key in the record');
}

t.test('there are enough of them, each with a name of its own', (t) => {
  const names = hostileTargets.map(({ name }) => name);
  t.ok(names.length >= 40);
  t.equal(new Set(names).size, names.length);
  t.end();
});

for (const target of hostileTargets) t.test(`a target that ${target.name}`, (t) => judge(t, target));

t.test('targets that change: each exchange stands for itself', async (t) => {
  const broken: Record<string, (number: number) => string> = {
    'dies in the middle of the run': (number) => (number > GOOD_REQUESTS ? 'reset' : '200'),
    'dies and comes back': (number) =>
      number > GOOD_REQUESTS && number <= GOOD_REQUESTS + MISSED_REQUESTS ? 'reset' : '200',
    'loses every tenth connection': (number) => (number % 10 === 0 ? 'reset' : '200'),
    'falls silent': (number) => (number > GOOD_REQUESTS ? 'headers-timeout' : '200'),
    'becomes a gateway whose server is gone': (number) => (number > GOOD_REQUESTS ? '502' : '200'),
  };
  for (const [name, expected] of Object.entries(broken)) {
    const target = hostileTargets.find((candidate) => candidate.name === name);
    if (target === undefined) throw new Error(`no target ${name}`);
    const running = await target.start();
    const clientWith = (timeouts: TimeLimits) =>
      createClient({ baseUrl: running.url, now: Date.now, secrets: [KEY], timeouts });
    // Where an answer is to come, a busy machine is given time for it.
    const [patient, impatient] = [clientWith(AMPLE_LIMITS), clientWith(SHORT_LIMITS)];
    const outcomes: string[] = [];
    for (let number = 1; number <= 10; number++) {
      const client = expected(number) === 'headers-timeout' ? impatient : patient;
      const { outcome } = await client.exchange(LIST, { id: `x#${number}`, sentBy: 'x' });
      outcomes.push(outcome.kind === 'response' ? String(outcome.status) : outcome.reason);
    }
    await Promise.all([patient.close(), impatient.close()]);
    await running.close();
    t.strictSame(
      outcomes,
      outcomes.map((_, i) => expected(i + 1)),
      name,
    );
    t.equal(running.requests.length, 10, `${name}: ten exchanges, ten requests`);
  }
});

t.test('TLS', async (t) => {
  const authority = await createAuthority();
  for (const target of await tlsTargets(authority)) {
    await t.test(`a target that ${target.name}`, (t) => judge(t, target, authority.cert));
  }
});
