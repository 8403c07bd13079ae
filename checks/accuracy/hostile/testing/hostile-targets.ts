import { bodyTargets } from './body-targets.ts';
import { changingTargets } from './changing-targets.ts';
import { connectionTargets } from './connection-targets.ts';
import { framingTargets } from './framing-targets.ts';
import { headerTargets } from './header-targets.ts';
import type { HostileTarget } from './hostile-target.ts';

/** All hostile targets that need no certificate; those that do are in tls-targets.ts. */
export const hostileTargets: readonly HostileTarget[] = [
  ...connectionTargets,
  ...framingTargets,
  ...bodyTargets,
  ...headerTargets,
  ...changingTargets,
];
