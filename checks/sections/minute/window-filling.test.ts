/** How a window is filled to its first refusal. */
import t from 'tap';
import { alignedWindow, fixedWindow, type SimulatedLimit } from '../../limits/testing/simulated-limits.ts';
import { MINUTE, SECOND } from '../../limits/time.ts';
import { NOON, payer, type TestRun, testKey } from '../../run/testing/test-run.ts';
import { addPet, getPet, listPets, type RequestSpec } from '../../wire/requests.ts';
import { type LimitedTarget, limitedRun, reset } from './testing/limited-target.ts';
import { exhaustKey } from './testing/measured.ts';
import { type FilledWindow, fill, fillUndisturbed } from './window-filling.ts';

const free = exhaustKey();
const last = listPets({ limit: 1 });
const addition = addPet({ name: 'at the limit', categoryId: 1n });

function* lists(): Generator<RequestSpec> {
  for (let limit = 2; ; limit += 1) yield listPets({ limit });
}

/** Fills the window of a target; with the paths of all requests, those of one burst together. */
async function filled(
  target: LimitedTarget = {},
  atLimit = last,
  requests: Iterator<RequestSpec> = lists(),
): Promise<TestRun & { readonly window: FilledWindow; readonly bursts: () => string[] }> {
  const test = limitedRun({ keys: [free], ...target });
  const [key = free] = test.run.keys;
  const window = await fill(test.run.probe('minute:free-1'), key, { requests, since: NOON, last: atLimit });
  const bursts = () => {
    const bySending = new Map<number, string[]>();
    for (const { sentAt, path } of test.run.trace.readings)
      bySending.set(sentAt, [...(bySending.get(sentAt) ?? []), path.replace('/pets?limit=', '')]);
    return [...bySending.values()].map((paths) => paths.join());
  };
  return { ...test, window, bursts };
}

/** A limit that admits and says that nothing is left, as a bucket that gives back as fast as it is asked. */
const refilling =
  (refuses: number): SimulatedLimit =>
  (capacity) => {
    let used = 0;
    return (now) => {
      used += 1;
      return {
        admitted: used !== refuses,
        remaining: Math.max(0, capacity - used),
        reset: now + 20 * SECOND,
      };
    };
  };

t.test('one request, as many as are left together, and one that is refused', async (t) => {
  const { window, bursts } = await filled();
  t.strictSame(bursts(), ['1', '2,3,4,5,6', '1']);
  t.match(window, {
    count: { verdict: { kind: 'exact' }, admitted: { length: 6 } },
    refusal: { id: 'minute:free-1#7' },
    last: { id: 'minute:free-1#7' },
    refusals: { length: 1 },
    servedOver: undefined,
    closed: undefined,
  });
});

t.test('what this run has sent in the window counts', async (t) => {
  const test = limitedRun({ keys: [free] });
  const probe = test.run.probe('earlier');
  await probe.attempt(last, free);
  await probe.attempt(last, free);
  const window = await fill(test.run.probe('minute:free-1'), free, { requests: lists(), since: NOON, last });
  t.match(window.count, { verdict: { kind: 'exact' }, admitted: { length: 6 } });
  t.equal(test.sent.length, 7);
  const times = test.run.trace.readings.map(({ sentAt }) => sentAt);
  t.strictSame(new Set(times.slice(2, 6)).size, 1, 'the rest goes together at once');
  const later = limitedRun({ keys: [free], admits: 8 });
  await later.run.probe('earlier').attempt(last, free);
  await later.run.probe('earlier').attempt(last, free);
  const since = await fill(later.run.probe('minute:free-1'), free, {
    requests: lists(),
    since: later.clock.now(),
    last,
  });
  t.match(since.count, { admitted: { length: 6 } }, 'what was sent before does not');
});

t.test('a key is counted while its window is filled, and no longer', async (t) => {
  const counted: boolean[] = [];
  const test = limitedRun({
    keys: [free],
    tells: ({ number }) => {
      counted[number - 1] = test.run.probe('other').lane(free).isReserved;
      return undefined;
    },
  });
  await fill(test.run.probe('minute:free-1'), free, { requests: lists(), since: NOON, last });
  t.ok(counted.length === 7 && counted.every((is) => is));
  t.equal(test.run.probe('other').lane(free).isReserved, false);
});

t.test('one request more is admitted', async (t) => {
  const { window, bursts } = await filled({ admits: 7 });
  t.strictSame(bursts(), ['1', '2,3,4,5,6', '1', '7']);
  t.match(window, {
    count: { verdict: { kind: 'more' }, admitted: { length: 7 } },
    refusal: { id: 'minute:free-1#8' },
    servedOver: undefined,
  });
});

t.test('an operation that the limit does not hold for', async (t) => {
  const isAddition = (path: string) => path === '/pets';
  const { window } = await filled(
    { tells: ({ request }) => (isAddition(request.path) ? { status: 201 } : undefined) },
    addition,
  );
  t.match(window, { servedOver: { id: 'minute:free-1#7' }, refusal: { id: 'minute:free-1#8' } });
  const held = await filled({}, addition);
  t.match(held.window, { servedOver: undefined, refusal: { request: { operation: 'createPet' } } });
  const twoMore = await filled({ admits: 8 }, addition);
  t.match(
    twoMore.window,
    { servedOver: undefined, count: { verdict: { kind: 'more' } } },
    'no operation’s fault, but the limit’s',
  );
});

t.test('an operation that a bucket’s refill has paid for was within the limit', async (t) => {
  const { window } = await filled(
    { limit: refilling(8), takes: (number) => (number === 2 ? 1500 : 0) },
    addition,
  );
  t.match(window, {
    count: { verdict: { kind: 'exact' }, admitted: { length: 7 } },
    refusal: { id: 'minute:free-1#8' },
    servedOver: undefined,
  });
});

t.test('the operation at the limit is told from those before it', async (t) => {
  const animal = getPet(7n);
  for (const [atLimit, before] of [
    [addition, addPet({ name: 'earlier', categoryId: 1n })],
    [addition, listPets()],
    [animal, getPet(8n)],
  ] as const) {
    const requests = [before, ...Array.from({ length: 9 }, () => last)][Symbol.iterator]();
    const { window } = await filled(
      { tells: ({ number }) => (number === 7 ? { status: 200 } : undefined) },
      atLimit,
      requests,
    );
    t.match(window, { servedOver: { id: 'minute:free-1#7' } }, `${before.method} ${before.path}`);
  }
});

t.test('fewer requests are admitted', async (t) => {
  const low = await filled({ admits: 4 });
  t.strictSame(low.bursts(), ['1', '2,3,4', '1'], 'as many as Remaining tells are left');
  t.match(low.window, { count: { verdict: { kind: 'fewer', before: 2, between: 0 } } });
  const lying = await filled({ admits: 4, tells: ({ remaining }) => ({ remaining: remaining + 2 }) });
  t.strictSame(lying.bursts(), ['1', '2,3,4,5,6']);
  t.match(lying.window, {
    count: { verdict: { kind: 'fewer', before: 0 } },
    refusal: { id: 'minute:free-1#5' },
    last: { id: 'minute:free-1#6' },
    refusals: { length: 2 },
  });
});

t.test('headers of the day leave it to our own count', async (t) => {
  const { window, bursts } = await filled({ tells: () => ({ limit: 1000, remaining: 3 }) });
  t.strictSame(bursts(), ['1', '2,3,4,5,6', '1']);
  t.match(window.count, { verdict: { kind: 'exact' } });
  const silent = await filled({ tells: () => ({ remaining: undefined }) });
  t.strictSame(silent.bursts(), ['1', '2,3,4,5,6', '1']);
});

t.test('a burst stops where something is refused, or not answered', async (t) => {
  const large = exhaustKey({ limits: { perMinute: 200, perDay: 1000 } });
  const { window, sent } = await filled({
    keys: [large],
    admits: 100,
    tells: () => ({ limit: 1000, remaining: 500 }),
  });
  t.equal(sent.length, 150, 'fifty were in flight');
  t.match(window, { refusal: { id: 'minute:free-1#101' }, refusals: { length: 50 } });
  const seen: number[] = [];
  await t.rejects(
    filled({
      keys: [large],
      tells: ({ number }) => {
        seen.push(number);
        return number === 20 ? reset : undefined;
      },
    }),
    { name: 'Unsettled' },
  );
  t.equal(seen.length, 69);
});

t.test('answers that overtook each other: the lowest Remaining is what is left', async (t) => {
  // Three were spent by somebody else.
  const shown = [4, 0, 3, 2, 1];
  const { bursts } = await filled({
    keys: [exhaustKey({ limits: { perMinute: 8, perDay: 1000 } })],
    admits: 5,
    tells: ({ number, admitted }) => (admitted ? { remaining: shown[number - 1] } : undefined),
  });
  t.strictSame(bursts(), ['1', '2,3,4,5', '1']);
});

t.test('a target that refuses nothing is followed for a while', async (t) => {
  const { window, sent, bursts } = await filled({ limit: refilling(Number.POSITIVE_INFINITY) });
  t.match(window, { refusal: undefined, closed: undefined, refusals: { length: 0 } });
  t.equal(sent.length, 40, 'thirty more than the limit, and a tenth of it, when a burst is over');
  t.strictSame(
    bursts()
      .slice(2)
      .map((paths) => paths.split(',').length),
    [1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 4],
    'one by one, and then a few more at a time',
  );
});

t.test('what outruns a refill is sent together', async (t) => {
  // A token comes back every two seconds, and a request takes almost four.
  const key = exhaustKey({ limits: { perMinute: 30, perDay: 1000 } });
  const { bursts } = await filled({
    keys: [key],
    limit: refilling(45),
    takes: (number) => (number > 30 ? 3900 : 0),
  });
  const together = bursts()
    .slice(2)
    .map((paths) => paths.split(',').length);
  t.strictSame(together.slice(0, 5), [1, 1, 1, 1, 1]);
  t.equal(together[5], 3, 'one more than two tokens');
});

t.test('a bucket that gives back meanwhile is followed further', async (t) => {
  const { sent } = await filled({
    limit: refilling(Number.POSITIVE_INFINITY),
    takes: (number) => (number > 6 ? 2 * SECOND : 0),
  });
  t.ok(sent.length >= 44 && sent.length <= 52, `${sent.length}`);
});

t.test('how long a request takes is what the last ones took', async (t) => {
  const { bursts } = await filled({
    keys: [exhaustKey({ limits: { perMinute: 30, perDay: 1000 } })],
    limit: refilling(45),
    takes: (number) => (number <= 30 ? 3900 : 0),
  });
  t.equal(bursts().slice(2)[5]?.split(',').length, 2);
});

t.test('a window that is filled too slowly is given up', async (t) => {
  const { window, clock } = await filled({
    limit: refilling(Number.POSITIVE_INFINITY),
    takes: () => 30 * SECOND,
  });
  t.equal(window.refusal, undefined);
  t.ok(clock.now() >= NOON + 4 * MINUTE && clock.now() < NOON + 6 * MINUTE);
});

t.test('a window that ends meanwhile: the one after it is filled', async (t) => {
  const { window } = await filled({
    limit: alignedWindow,
    takes: (number) => (number === 4 ? MINUTE : 0),
  });
  t.match(window.count, { verdict: { kind: 'exact' }, admitted: { length: 6 } });
  t.ok(window.count.all.length > 6);
  t.equal(window.refusals.length, 1);
});

t.test('a window that ends right before the refusal: the limit is reached once more', async (t) => {
  const { bursts, window } = await filled(
    { limit: fixedWindow, takes: (number) => (number === 7 ? MINUTE : 0) },
    listPets({ limit: 99 }),
  );
  t.strictSame(bursts(), ['1', '2,3,4,5,6', '99', '7,8,9,10,11', '99']);
  t.match(window, { count: { verdict: { kind: 'exact' } }, servedOver: undefined });
});

t.test('an error below the limit spoils the count', async (t) => {
  for (const status of [500, 503])
    await t.rejects(
      filled({ tells: ({ number }) => (number === 3 ? { status } : undefined) }),
      {
        name: 'Unsettled',
        message: new RegExp(`disturbed: ${status}`),
        evidence: [{ id: 'minute:free-1#3' }],
      },
      `${status}`,
    );
  const { window } = await filled({ tells: ({ admitted }) => (admitted ? undefined : { status: 503 }) });
  t.match(window, { refusal: { outcome: { status: 503 } } }, 'at the limit it is a refusal');
});

t.test('a refusal that is none of the limit’s own', async (t) => {
  for (const status of [401, 403]) {
    const { window } = await filled({ tells: ({ number }) => (number === 3 ? { status } : undefined) });
    t.match(window, { refusal: { id: 'minute:free-1#3', outcome: { status } } });
  }
});

t.test('a connection that breaks below the limit spoils the count', async (t) => {
  await t.rejects(filled({ tells: ({ number }) => (number === 3 ? reset : undefined) }), {
    name: 'Unsettled',
    message: /disturbed: connection reset/,
    evidence: [{ id: 'minute:free-1#3' }],
  });
  await t.rejects(filled({ tells: ({ number }) => (number === 1 ? reset : undefined) }), {
    name: 'Unsettled',
  });
});

t.test('a target that closes the connection at the limit', async (t) => {
  const { window, sent } = await filled({ tells: ({ admitted }) => (admitted ? undefined : reset) });
  t.match(window, { closed: { id: 'minute:free-1#7' }, refusal: undefined, last: { id: 'minute:free-1#6' } });
  t.equal(sent.length, 8, 'twice, since the first may be an accident');
  const once = await filled({ tells: ({ number }) => (number === 7 ? reset : undefined) });
  t.match(once.window, {
    closed: undefined,
    refusal: { id: 'minute:free-1#8', outcome: { status: 429 } },
    count: { verdict: { kind: 'exact' } },
  });
});

t.test('whether connections break for everybody at the limit is asked with another key', async (t) => {
  const keys = [free, testKey({ name: 'free-2' })];
  const own = await filled({ keys, tells: ({ admitted }) => (admitted ? undefined : reset) });
  t.match(own.window, { closed: { id: 'minute:free-1#7' }, refusal: undefined });
  t.strictSame(own.sent.slice(6).map(payer), ['free-1', 'free-2', 'free-1', 'free-2', 'free-2']);
  for (const broken of [8, 10, 11])
    await t.rejects(
      filled({ keys, tells: ({ number }) => ([7, 9, broken].includes(number) ? reset : undefined) }),
      { name: 'Unsettled', message: /disturbed: connection reset/, evidence: [{ key: 'free-2' }] },
    );
});

t.test('a window in which an answer was lost is filled once more from rest', async (t) => {
  const filledAgain = async (...lost: readonly number[]) => {
    const test = limitedRun({
      keys: [free],
      tells: ({ number }) => (lost.includes(number) ? reset : undefined),
    });
    const window = await fillUndisturbed(test.run.probe('minute:free-1'), free, {
      requests: lists(),
      since: NOON,
      last,
    });
    return { ...test, window };
  };
  const { window, sent, waits } = await filledAgain(3);
  t.match(window, {
    count: { verdict: { kind: 'exact' }, admitted: { length: 6 } },
    refusals: { length: 1 },
  });
  t.equal(sent.length, 6 + 7);
  t.match(waits(), [/^61\.\d+: key free-1 to be at rest for a minute$/]);
  t.equal((await filledAgain()).sent.length, 7);
  t.match(
    (await filledAgain(3, 9)).window,
    { lost: { id: /#9$/ }, refusal: { outcome: { status: 429 } }, closed: undefined },
    'where one is lost again the window still ends with its refusal',
  );
  const most = Array.from({ length: 20 }, (_, index) => 2 * index + 3);
  await t.rejects(filledAgain(...most), { name: 'Unsettled', message: /disturbed: connection reset/ });
  const { run } = limitedRun({
    keys: [free],
    tells: ({ number }) => (number === 3 ? { status: 500 } : undefined),
  });
  await t.rejects(
    fillUndisturbed(run.probe('minute:free-1'), free, { requests: lists(), since: NOON, last }),
    { message: /disturbed: 500/ },
    'an error is the target’s own',
  );
});

t.test('a gateway in the target’s place refuses nothing', async (t) => {
  const gateway = { ...reset, reason: 'unavailable', message: '502 of a gateway' } as const;
  await t.rejects(filled({ tells: ({ admitted }) => (admitted ? undefined : gateway) }), {
    name: 'Unsettled',
    message: /disturbed: 502 of a gateway/,
  });
});

t.test('connections that break while others are served at the limit are no refusals', async (t) => {
  const { window } = await filled({
    limit: refilling(10),
    tells: ({ number }) => (number === 7 || number === 9 ? reset : undefined),
  });
  t.match(window, { closed: undefined, refusal: { outcome: { status: 429 } } });
});
