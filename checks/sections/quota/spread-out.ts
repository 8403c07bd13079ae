/** A few requests on a key that is not driven to its limit: what X-RateLimit-Reset tells comes between them. */
import { surelyGivenBack } from '../../limits/remaining-arithmetic.ts';
import { MINUTE, SECOND } from '../../limits/time.ts';
import type { Key } from '../../profile/key.ts';
import { Inconclusive } from '../../run/reason.ts';
import { sceneOnKeys } from '../../run/scene.ts';
import { rateReading } from '../../wire/rate-headers.ts';
import { listPets } from '../../wire/requests.ts';
import { isAdmitted } from './admitted.ts';
import { exhaustKeys, minute, minuteKeys } from './minute.ts';

/** So many are spent at first: the more, the sooner it shows that they are given back. */
const SPENT = 20;
/** Pauses between those that follow: after a short one little can have been given back. */
const PAUSES = [12, 13, 25].map((seconds) => seconds * SECOND);
/** Nothing is waited for beyond this, whatever Reset tells. */
const LONGEST = 3 * MINUTE;

/** Whether the run drives the key to its limit. */
const isFilled = (key: Key, keys: readonly Key[]) =>
  key.roles.includes('ban') || exhaustKeys(keys).includes(key);

/** While the minutes of other keys are filled; without another key nothing is sent. */
export const spreadOut = sceneOnKeys(
  'spread-out',
  {
    permit: minute.permit,
    intent: 'ordinary',
    wanted: minute.wanted,
    keys: (keys) =>
      minuteKeys(keys)
        .slice(0, 1)
        .map(
          (first) => keys.find((key) => key.roles.includes('functional') && !isFilled(key, keys)) ?? first,
        ),
  },
  async (run, key) => {
    // One that was refused already has another row that says so.
    if (isFilled(key, run.keys) || run.trace.refusalsOf({ key: key.name }) > 0) return;
    const longest = run.now() + LONGEST;
    const ask = async () => {
      const exchange = await run.attemptAnswered(listPets({ limit: 1 }), key);
      if (isAdmitted(exchange)) return rateReading(exchange);
      throw new Inconclusive(`key ${key.name} was refused before its limit`, [exchange]);
    };
    const most = Math.min(SPENT, run.lane(key).left(run.now()) / 2);
    let first = await ask();
    for (let spent = 1; spent < most; spent += 1) first = await ask();
    const told = [first];
    for (const pause of PAUSES) {
      await run.waitUntil(run.now() + pause, `requests of key ${key.name} to be spread out`);
      told.push(await ask());
    }
    for (const before of told.slice(0, 2)) {
      const at = surelyGivenBack(before, run.trace.targetClock);
      if (before.limit !== key.limits.perMinute || at > longest) return;
      await run.waitUntil(at, `X-RateLimit-Reset of key ${key.name}`);
      const { remaining = 0 } = await ask();
      // Where something was given back, nothing has to be confirmed.
      if (remaining > (before.remaining ?? 0) - told.length) return;
    }
  },
);
