/** Each hostile target in one exchange, and in a whole run that asks a conforming server behind it. */

import t, { type Test } from 'tap';
import { startReferenceServer } from '../../../reference-server/reference-server.ts';
import { currentId } from '../../../spec/contract.ts';
import { checkTarget } from '../../check-target.ts';
import { DIRECT } from '../../wire/access.ts';
import { createClient } from '../../wire/client.ts';
import type { Exchange } from '../../wire/exchange.ts';
import { requestOf } from '../setting.ts';
import { type HostileTarget, limitsFor } from './testing/hostile-target.ts';
import { hostileTargets } from './testing/hostile-targets.ts';
import { createAuthority, tlsTargets } from './testing/tls-targets.ts';

const KEY = 'sk_live+canary/4f9Zq7TrXy==';
/** Long enough that a number or a word does not look like a part of a key. */
const PART = 8;
/** What the time limits leave to a busy machine. */
const SLACK_MS = 3000;

function leaks(exchange: Exchange): boolean {
  const text = JSON.stringify(exchange).toLowerCase();
  return [KEY, encodeURIComponent(KEY), Buffer.from(KEY).toString('base64')].some(
    (form) =>
      text.includes(form.slice(0, PART).toLowerCase()) ||
      text.includes(form.slice(-PART - 3, -3).toLowerCase()),
  );
}

async function oneExchange(t: Test, target: HostileTarget, ca?: string): Promise<void> {
  const running = await target.start();
  const limits = limitsFor(target);
  const client = createClient({
    baseUrl: running.url,
    now: Date.now,
    secrets: [KEY],
    timeouts: limits,
    access: { ...DIRECT, tls: { ca } },
  });
  t.teardown(() => Promise.all([client.close(), running.close()]));
  const list = (id: string) =>
    client.exchange(
      {
        operation: 'listPets',
        method: 'GET',
        path: '/pets?limit=1',
        authorization: { kind: 'key', name: 'free-1', value: KEY },
      },
      { id, sentBy: id, intent: 'ordinary' },
    );
  const first = await list('first');
  t.match(first.outcome, target.expected, 'the outcome');
  const longest = limits.connect + limits.headers + limits.body + SLACK_MS;
  t.ok(first.receivedAt - first.sentAt <= longest, `took ${first.receivedAt - first.sentAt} ms`);
  t.ok(running.requests.length <= 1, 'nothing was sent twice');
  const second = await list('second');
  t.ok(running.requests.length <= 2, 'nor on a connection that had been kept');
  t.notOk(
    running.requests.some(({ head }) => /^cookie:/im.test(head)),
    'no cookie came back',
  );
  t.notOk(leaks(first) || leaks(second), 'no part of the key in the record');
}

/** Fast enough that a minute which a target asks to wait for is half a second. */
const CLOCK_SPEED = 120;
/** Real milliseconds for a target that has stopped answering; users have a minute. */
const PATIENCE = 1000;
/** An answer comes in time on a busy machine too, and silence is waited for a few times only. */
const UNTIL_SILENT_MS = 2000;

async function wholeRun(t: Test, target: HostileTarget): Promise<void> {
  const server = await startReferenceServer({ clockSpeed: CLOCK_SPEED });
  const running = await target.start(new URL(server.baseUrl).origin);
  t.teardown(() => Promise.all([running.close(), server.close()]));
  const setting = { keys: ['free-1', 'pro-1'], permissions: ['writes'] } as const;
  const request = requestOf({ ...server, baseUrl: running.url }, setting);
  const { headers, ...limits } = limitsFor(target);
  const result = await checkTarget({
    ...request,
    timeouts: { ...limits, headers: Math.min(headers, UNTIL_SILENT_MS) },
    patience: PATIENCE,
  });
  if ('notReady' in target.run) {
    const { nothingToJudge = '' } = result;
    t.match(nothingToJudge, target.run.notReady);
    t.notMatch(nothingToJudge, /\n/, 'one line');
    t.ok(nothingToJudge.replace(running.url, '').length < 450, 'that can be read');
    t.ok(running.requests.length <= 8, 'a target that gives no answer is not asked on and on');
    return;
  }
  t.equal(result.nothingToJudge, undefined);
  const rows = [...result.result.requirements];
  const ids = (wanted: string) => rows.flatMap(([id, { verdict }]) => (verdict === wanted ? [id] : []));
  t.strictSame(
    ids('fail').sort(),
    target.run.broken.map(currentId).sort(),
    'what is broken, and nothing else',
  );
  t.ok(ids('pass').length >= target.run.hold, `${ids('pass').length} hold`);
  const { warning } = target.run;
  const warnings = result.warnings.filter((said) => !said.startsWith('requests without an answer'));
  t.equal(warnings.length > 0, warning !== undefined, warnings.join('; '));
  for (const said of warnings) t.match(said, warning ?? 'no warning');
}

t.test('each has a name of its own', async (t) =>
  t.equal(new Set(hostileTargets.map(({ name }) => name)).size, hostileTargets.length),
);

t.test('one exchange', { jobs: 4 }, async (t) => {
  const authority = await createAuthority();
  for (const target of hostileTargets) t.test(target.name, (t) => oneExchange(t, target));
  for (const target of await tlsTargets(authority))
    t.test(target.name, (t) => oneExchange(t, target, authority.cert));
});

t.test('a whole run', { jobs: 8 }, async (t) => {
  // Whom Node trusts is fixed as it starts: certificates are in cli/check/check-hostile.test.ts.
  const handshakes = (await tlsTargets(await createAuthority())).filter(
    ({ name }) => !/certificate|signs for itself/.test(name),
  );
  for (const target of [...hostileTargets, ...handshakes]) t.test(target.name, (t) => wholeRun(t, target));
});
