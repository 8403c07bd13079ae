import type { Check, Scene } from '../harness/check.ts';
import type { Probe } from '../harness/probe.ts';
import type { Permission } from '../harness/verdict.ts';
import { banKey, banOf, provocationOf } from './bans.ts';
import { dayOf } from './daily-quota.ts';
import { minuteScenes } from './minute-windows.ts';

/**
 * The long spendings, a lane a key: its minute, then its day, and the ban on a key of its own. Lanes run side by side,
 * so that a run waits for one window and not for one a plan. The ban is provoked first, while other keys still have
 * quota to show that they do not feel it.
 */
export function spendingLanes(probe: Probe, checks: readonly Check[]): (readonly Scene<unknown>[])[] {
  const wanted = (permission: Permission) => probe.permits(permission) && checks.some(({ permit }) => permit === permission);
  const banned = wanted('ban') && probe.keys.some(({ roles }) => roles.includes('ban')) ? banKey(probe) : undefined;
  const measured = minuteScenes(probe);
  // A key that is measured as well is banned last of all.
  const aside = banned !== undefined && !measured.some(({ key }) => key.name === banned.name);
  const provocation = banned !== undefined && aside ? [provocationOf(banned)] : [];
  const lanes: Scene<unknown>[][] = measured.map(({ key, scene }) => [
    ...provocation,
    ...(wanted('exhaust') ? [scene] : []),
    ...(wanted('day') ? [dayOf(key)] : []),
  ]);
  return banned === undefined ? lanes : [...lanes, [banOf(banned)]];
}
