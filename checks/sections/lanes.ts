import type { Check, Scene } from '../run/check.ts';
import type { Probe } from '../run/probe.ts';
import type { Permission } from '../run/verdict.ts';
import { banKey, banOf } from './ban/measurement.ts';
import { dayOf } from './day/checks.ts';
import { minuteScenes } from './minute/scenes.ts';

/**
 * The long spendings, a lane a key: its minute, then its day, and the ban on a key of its own. Lanes run side by side,
 * so that a run waits for one window and not for one a plan.
 */
export function spendingLanes(probe: Probe, checks: readonly Check[]): (readonly Scene<unknown>[])[] {
  const wanted = (permission: Permission) =>
    probe.permits(permission) && checks.some(({ permit }) => permit === permission);
  const banned =
    wanted('ban') && probe.keys.some(({ roles }) => roles.includes('ban')) ? banKey(probe) : undefined;
  const lanes: Scene<unknown>[][] = minuteScenes(probe).map(({ key, scene }) => [
    ...(wanted('exhaust') ? [scene] : []),
    ...(wanted('day') ? [dayOf(key)] : []),
  ]);
  return banned === undefined ? lanes : [...lanes, [banOf(banned)]];
}
