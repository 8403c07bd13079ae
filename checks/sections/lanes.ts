import type { Check, Scene } from '../harness/check.ts';
import type { Probe } from '../harness/probe.ts';
import { banKey, banOf } from './bans.ts';
import { dayOf } from './daily-quota.ts';
import { minuteScenes } from './minute-windows.ts';

/**
 * The long spendings, a lane a key: its minute, then its day, and the ban on a key of its own. Lanes run side by side,
 * so that a run waits for one window and not for one a plan.
 */
export function spendingLanes(probe: Probe, checks: readonly Check[]): (readonly Scene<unknown>[])[] {
  const wanted = (permission: string) => checks.some(({ permit }) => permit === permission);
  const lanes: Scene<unknown>[][] = [];
  const minutes = probe.permits('exhaust') && wanted('exhaust');
  const days = probe.permits('day') && wanted('day');
  for (const { key, scene } of minuteScenes(probe)) {
    lanes.push([...(minutes ? [scene] : []), ...(days ? [dayOf(key)] : [])]);
  }
  if (probe.permits('ban') && wanted('ban') && probe.keys.some(({ roles }) => roles.includes('ban'))) {
    lanes.push([banOf(banKey(probe))]);
  }
  return lanes;
}
