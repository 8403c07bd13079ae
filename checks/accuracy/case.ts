/** Runs the whole suite against one server with one fault or variant. */
import { setTimeout as sleep } from 'node:timers/promises';
import { AFTER_REMOVAL } from '../../reference-server/deviations/clock.ts';
import { type StartOptions, startReferenceServer } from '../../reference-server/reference-server.ts';
import { checkTarget } from '../check-target.ts';
import type { Permission } from '../profile/permissions.ts';
import { PROFILE_DEFAULTS, type ProfileKey, type TargetProfile } from '../profile/target-profile.ts';
import { sharedClock } from '../run/clock.ts';
import type { Settled } from '../run/findings.ts';
import type { StyleName } from './frameworks/catalogue.ts';
import { type FrameworkService, startFrameworkService } from './frameworks/framework-service.ts';
import { numbersNotShown } from './told-numbers.ts';

/** A case: a fault with the requirement that it breaks, or a variant, which breaks none. */
export interface AccuracyCase {
  readonly kind: 'fault' | 'variant';
  readonly name: string;
  /** The requirement that the fault names; undefined for a variant. */
  readonly breaks?: string;
  /** The framework service to check, instead of the reference server. */
  readonly style?: StyleName;
  /** Number of foreign animals in the store. */
  readonly animals?: number;
  /** Whether another client adds animals all the time. */
  readonly busy?: boolean;
}

export interface CaseResult {
  readonly verdicts: readonly {
    readonly id: string;
    readonly verdict: Settled['verdict'];
    readonly reason: string;
    /** Numbers in the reason that the run does not show. */
    readonly notShown: readonly string[];
  }[];
  readonly requests: number;
  readonly problem?: string;
}

/** The keys that a case may need; a big plan costs thousands of requests. */
const KEYS = {
  'free-1': { plan: 'free', roles: ['functional', 'exhaust'] },
  'free-2': { plan: 'free', roles: ['functional'] },
  'free-ban': { plan: 'free', roles: ['ban'] },
  'pro-1': { plan: 'pro', roles: ['functional', 'exhaust'] },
  'business-1': { plan: 'business', roles: ['functional', 'exhaust'] },
  'enterprise-1': { plan: 'enterprise', roles: ['functional', 'exhaust'] },
} as const satisfies Record<string, Pick<ProfileKey, 'plan' | 'roles'>>;
type KeyName = keyof typeof KEYS;

/** Requirements that show only if a list holds the whole store. */
const WHOLE_STORE = [
  'list-unfiltered',
  'list-shows-added',
  'list-limit-default',
  'add-rejected-stores-nothing',
  'auth-refused-adds-nothing',
];
const SMALL_STORE = 40;

/** A small plan, so that its day is soon spent. */
const ENTERPRISE = { perMinute: 120, perDay: 1200 };

export interface Setting {
  readonly keys: readonly KeyName[];
  readonly permissions: readonly Permission[];
}

/** The least that a case needs to show its fault. */
export function settingOf({ breaks }: AccuracyCase): Setting {
  const [, window, plan = 'free'] = /^rate-(minute|day)-(\w+)$/.exec(breaks ?? '') ?? [];
  const ofPlan = [`${plan}-1`].filter((name): name is KeyName => name in KEYS);
  if (window === 'day')
    return { keys: ofPlan.length > 0 ? ofPlan : ['free-1'], permissions: ['writes', 'exhaust', 'day'] };
  const usual: readonly KeyName[] = ['free-1', 'free-2', 'free-ban', 'pro-1'];
  return { keys: [...new Set([...usual, ...ofPlan])], permissions: ['writes', 'exhaust', 'ban'] };
}

/** Starts another client, which adds an animal every few moments; returns a function that stops it. */
function keepAdding(baseUrl: string, key: string): () => Promise<void> {
  const stopping = new AbortController();
  const adding = (async () => {
    for (let count = 1; !stopping.signal.aborted; count += 1) {
      const body = JSON.stringify({
        name: `somebody else's ${count}`,
        categoryId: 1,
        status: ['available', 'pending', 'sold'][count % 3],
      });
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
      await fetch(`${baseUrl}/pets`, { method: 'POST', headers, body }).then((response) =>
        response.arrayBuffer(),
      );
      await sleep(25, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  })();
  return () => {
    stopping.abort();
    return adding;
  };
}

/** The server options of a case, without its clock. */
export function serverOf({ kind, name, breaks, animals }: AccuracyCase): StartOptions {
  return {
    enterprise: ENTERPRISE,
    ban: { seconds: 20 },
    ...(animals !== undefined
      ? { animals }
      : WHOLE_STORE.includes(breaks ?? '')
        ? { animals: SMALL_STORE }
        : {}),
    ...(kind === 'fault' ? { fault: name } : { variant: name }),
  };
}

/** The profile for the server of a case. */
export function profileOf(
  target: string,
  { keys, permissions }: Setting,
): TargetProfile & { readonly target: string } {
  return {
    target,
    keys: keys.map((name) => ({ name, ...KEYS[name], env: 'KEY', unusedToday: true })),
    ...PROFILE_DEFAULTS,
    plans: { enterprise: ENTERPRISE },
    permit: permissions,
  };
}

async function startServerOf(accuracyCase: AccuracyCase): Promise<FrameworkService> {
  const { kind, name, breaks, style } = accuracyCase;
  if (style !== undefined) return startFrameworkService(style, kind === 'fault' ? name : undefined);
  const clock = sharedClock();
  // The run's clock must also be past the removal date: the target's clock alone is not believed.
  if (breaks === 'get-removed' || name === 'after-the-removal') await clock.sleepUntil(AFTER_REMOVAL);
  return { ...(await startReferenceServer({ clock, ...serverOf(accuracyCase) })), clock };
}

/** Runs the whole suite against a server. */
export async function resultOf(server: FrameworkService, setting: Setting): Promise<CaseResult> {
  const used = server.keys.filter(({ name }) => setting.keys.some((key) => key === name));
  const checked = await checkTarget({
    clock: server.clock,
    profile: profileOf(server.baseUrl, setting),
    values: new Map(used.map(({ name, value }) => [name, value])),
    permissions: setting.permissions,
  });
  if (checked.kind === 'not-ready') return { verdicts: [], requests: 0, problem: checked.message };
  const requests = [...checked.requestsByKey.values()].reduce((sum, count) => sum + count, 0);
  const verdicts = [...checked.result.requirements].map(([id, { verdict, reason }]) => {
    return { id, verdict, reason, notShown: numbersNotShown(reason, checked.trace, requests) };
  });
  return { verdicts, requests };
}

/** Runs a case on a server of its own, with a shared simulated clock. */
export async function runCase(accuracyCase: AccuracyCase): Promise<CaseResult> {
  const server = await startServerOf(accuracyCase);
  const neighbour = server.keys.find(({ name }) => name === 'business-load');
  const stopAdding =
    accuracyCase.busy === true && neighbour !== undefined
      ? keepAdding(server.baseUrl, neighbour.value)
      : undefined;
  try {
    return await resultOf(server, settingOf(accuracyCase));
  } finally {
    await stopAdding?.();
    await server.close();
  }
}
