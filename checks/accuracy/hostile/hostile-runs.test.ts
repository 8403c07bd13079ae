import t, { type Test } from 'tap';
import { startReferenceServer } from '../../../reference-server/reference-server.ts';
import { type CheckedTarget, checkTarget } from '../../check-target.ts';
import { PROFILE_DEFAULTS, type TargetProfile } from '../../profile/target-profile.ts';
import type { TimeLimits } from '../../wire/client.ts';
import { expectedRun } from './testing/expected-runs.ts';
import { AMPLE_LIMITS, type HostileTarget, limitsFor } from './testing/hostile-target.ts';
import { hostileTargets } from './testing/hostile-targets.ts';
import { createAuthority, tlsTargets } from './testing/tls-targets.ts';

/** Real milliseconds for a target that has stopped answering; users have a minute. */
const PATIENCE = 1000;
/** Fast enough that a minute which a target asks to wait for is half a second. */
const CLOCK_SPEED = 120;
/**
 * The longest of these runs waits three minutes for each of two keys, which is three seconds here; the rest is for
 * eight at a time on a busy machine.
 */
const LONGEST_RUN = 60_000;
const AT_A_TIME = 8;

const FALLS_SILENT = 'falls silent';
/** Its first answers come in time on a busy machine too, and its silence is waited for a few times only. */
const UNTIL_SILENT: TimeLimits = { ...AMPLE_LIMITS, headers: 2000 };

async function checked(
  target: HostileTarget,
): Promise<{ result: CheckedTarget; took: number; requests: number; astray: number; url: string }> {
  const server = await startReferenceServer({ clockSpeed: CLOCK_SPEED });
  const running = await target.start(new URL(server.baseUrl).origin);
  const keys = server.keys.filter(({ name }) => name === 'free-1' || name === 'pro-1');
  const profile: TargetProfile & { target: string } = {
    target: running.url,
    keys: keys.map(({ name, plan }) => ({
      name,
      plan,
      env: `KEY_OF_${plan}`,
      roles: ['functional'],
      unusedToday: true,
    })),
    ...PROFILE_DEFAULTS,
    permit: ['writes'],
    clock: { speed: CLOCK_SPEED },
  };
  const startedAt = performance.now();
  try {
    const result = await checkTarget({
      profile,
      values: new Map(keys.map(({ name, value }) => [name, value])),
      permissions: ['writes'],
      timeouts: target.name === FALLS_SILENT ? UNTIL_SILENT : limitsFor(target),
      patience: PATIENCE,
    });
    const took = performance.now() - startedAt;
    const { requests, astray = [], url } = running;
    return { result, took, requests: requests.length, astray: astray.length, url };
  } finally {
    await running.close();
    await server.close();
  }
}

async function judge(t: Test, target: HostileTarget): Promise<void> {
  const expected = expectedRun(target);
  const { result, took, requests, astray, url } = await checked(target);
  t.ok(took < LONGEST_RUN, `took ${Math.round(took)} ms`);
  t.equal(astray, 0, 'the key followed no redirect');
  t.equal(result.kind, expected.kind === 'not-ready' ? 'not-ready' : 'checked');
  if (expected.kind === 'not-ready') {
    if (result.kind !== 'not-ready') return;
    t.match(result.message, expected.message);
    t.notMatch(result.message, /\n/, 'one line');
    t.ok(result.message.replace(url, '').length < 450, 'that can be read');
    t.ok(requests <= 8, 'a target that gives no answer is not asked on and on');
    return;
  }
  if (result.kind !== 'checked') return;
  const settled = [...result.result.requirements];
  const broken = settled.flatMap(([id, { verdict }]) => (verdict === 'fail' ? [id] : []));
  const { perhaps = [] } = expected;
  t.strictSame(
    broken.filter((id) => !perhaps.includes(id)).sort(),
    [...expected.broken].sort(),
    'what is broken, and nothing else',
  );
  const hold = settled.filter(([, { verdict }]) => verdict === 'pass').length;
  t.ok(hold >= expected.hold, `${hold} hold`);
  for (const [id, { verdict, reason }] of settled) {
    if (verdict === 'inconclusive') t.match(reason, /\w/, `${id} says why it is inconclusive`);
  }
  if (expected.warning === undefined) t.strictSame(result.warnings, []);
  else t.match(result.warnings, [expected.warning]);
}

t.test('a whole run against each hostile target', { jobs: AT_A_TIME }, async (t) => {
  const handshakes = await tlsTargets(await createAuthority());
  // Those with a certificate are in cli/check/check-hostile.test.ts: whom Node trusts is settled as it starts.
  const others = handshakes.filter(({ name }) => !/certificate|signs for itself/.test(name));
  t.equal(others.length, 5);
  for (const target of [...hostileTargets, ...others]) {
    t.test(`that ${target.name}`, (t) => judge(t, target));
  }
});
