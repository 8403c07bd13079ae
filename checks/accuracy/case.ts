/** Runs the whole suite against one server, with one fault or disturbance. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AFTER_REMOVAL } from '../../reference-server/deviations/clock.ts';
import { deviating } from '../../reference-server/deviations/deviation.ts';
import { FAULTS } from '../../reference-server/deviations/faults/index.ts';
import { named } from '../../reference-server/deviations/named.ts';
import { EVERY_VARIANT } from '../../reference-server/deviations/variants/index.ts';
import { startServer } from '../../reference-server/server.ts';
import { currentId } from '../../spec/contract.ts';
import { type CheckedTarget, type CheckRequest, checkTarget, JOURNAL_FILE } from '../check-target.ts';
import { sharedClock } from '../run/clock.ts';
import type { Finding } from '../run/findings.ts';
import { readJournal } from '../run/journal.ts';
import { type Reason, whatOf } from '../run/reason.ts';
import type { Exchange } from '../wire/exchange.ts';
import { DISTURBANCES, DISTURBED, type Disturbance } from './disturbances.ts';
import { startFrameworkService } from './framework-service.ts';
import { ENTERPRISE, requestOf, type Setting, settingOf } from './setting.ts';
import { numbersNotShown } from './told-numbers.ts';

/** A server to check: one with a fault, a conforming variant, or a conforming service made with libraries. */
export interface AccuracyCase {
  readonly kind: 'fault' | 'variant' | 'service';
  readonly name: string;
  /** The requirement that a fault breaks. */
  readonly breaks?: string;
  /** What happens to a run against a variant. */
  readonly disturbance?: string;
  /** The requirements that a run is restricted to; by default it is whole. */
  readonly only?: readonly string[];
  /** The readings that the profile declines. */
  readonly declined?: readonly string[];
}

/** What a run says of a requirement. */
export interface Row {
  readonly id: string;
  readonly verdict: Finding['verdict'];
  readonly reason: string;
  /** The ids of the rows that it blames. */
  readonly blames: readonly string[];
  /** Of its reasons. */
  readonly kinds: readonly Reason['kind'][];
  /** Numbers in the reason that the run does not show. */
  readonly notShown: readonly string[];
}

export interface CaseResult {
  readonly verdicts: readonly Row[];
  /** How long the run took, by its own clock, less the time that this machine needed for it. */
  readonly seconds?: number;
  readonly problem?: string;
}

/** Requirements that show only if a list holds the whole store, which is then a small one. */
const WHOLE_STORE = [
  'list-unfiltered',
  'list-shows-added',
  'list-limit-default',
  'add-rejected-stores-nothing',
  'auth-refused-adds-nothing',
].map(currentId);

async function startServerOf({ kind, name, breaks = '' }: AccuracyCase, disturbance?: Disturbance) {
  if (kind === 'service') return startFrameworkService(name);
  const clock = sharedClock();
  // The run's clock must also be past the removal date: the target's clock alone is not believed.
  if (breaks === currentId('get-removed') || name === 'after-the-removal')
    await clock.sleepUntil(AFTER_REMOVAL);
  const animals = disturbance?.animals ?? (WHOLE_STORE.includes(breaks) ? 52 : undefined);
  const { deviation } = kind === 'fault' ? named(kind, name, FAULTS) : named(kind, name, EVERY_VARIANT);
  const server = await startServer({
    clock,
    enterprise: ENTERPRISE,
    ban: { seconds: 20 },
    design: (usual) => deviating(usual, [deviation, disturbance?.server?.(clock) ?? {}]),
    ...(animals === undefined ? {} : { animals }),
  });
  return { ...server, clock };
}

/** A run whose process ends after these numbers of exchanges, and which is resumed each time. */
async function resumed(request: CheckRequest, killedAfter: readonly number[]): Promise<CheckedTarget> {
  const directory = mkdtempSync(join(tmpdir(), 'pets-'));
  try {
    let part: CheckRequest = { ...request, directory };
    for (const last of killedAfter) {
      const killed = new Error('the process ended');
      let exchanges = 0;
      const onEvent: CheckRequest['onEvent'] = ({ kind }) => {
        if (kind === 'exchange') exchanges += 1;
        if (exchanges >= last) throw killed;
      };
      const ended = await checkTarget({ ...part, onEvent }).catch((error: unknown) => {
        if (error !== killed) throw error;
      });
      if (ended !== undefined) return ended;
      part = { ...request, directory, resume: readJournal(join(directory, JOURNAL_FILE)) };
    }
    return await checkTarget(part);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** What a run says, as the matrix reads it. */
export function resultOf(checked: CheckedTarget): CaseResult {
  if (checked.nothingToJudge !== undefined) return { verdicts: [], problem: checked.nothingToJudge };
  const requests = [...checked.trace.requestsByKey.values()].reduce((sum, count) => sum + count, 0);
  const verdicts = [...checked.result.requirements].map(([id, { verdict, reasons, violation }]) => {
    const reason = [...(violation === undefined ? [] : [violation.actual]), ...whatOf(reasons)].join('; ');
    return {
      id,
      verdict,
      reason,
      blames: reasons.flatMap((one) => ('blames' in one ? (one.blames ?? []) : [])),
      kinds: reasons.map(({ kind }) => kind),
      notShown: numbersNotShown(reason, checked.trace, requests),
    };
  });
  return { verdicts, seconds: (checked.endedAt - checked.startedAt) / 1000 };
}

const disturbanceOf = ({ disturbance: name }: AccuracyCase): Disturbance | undefined =>
  name === undefined ? undefined : named('disturbance', name, DISTURBANCES);

function settingFor(accuracyCase: AccuracyCase): Setting {
  const { kind, only, breaks = only?.[0] } = accuracyCase;
  const disturbance = disturbanceOf(accuracyCase);
  if (disturbance !== undefined) return disturbance.setting ?? DISTURBED;
  // The services know no day and no big plan.
  return settingOf(kind === 'service' ? undefined : breaks);
}

export const spendsDay = (accuracyCase: AccuracyCase): boolean =>
  settingFor(accuracyCase).permissions.includes('day');

/**
 * Runs a case on a server of its own, with a shared simulated clock.
 *
 * @param onExchange called with each exchange of a run that is not killed
 */
export async function runCase(
  accuracyCase: AccuracyCase,
  onExchange?: (exchange: Exchange) => void,
): Promise<CaseResult> {
  const disturbance = disturbanceOf(accuracyCase);
  const { killedAfter, link } = disturbance ?? {};
  const { only, declined = [] } = accuracyCase;
  const server = await startServerOf(accuracyCase, disturbance);
  try {
    const asked = requestOf(server, settingFor(accuracyCase));
    const readings = Object.fromEntries(declined.map((id) => [id, 'declined' as const]));
    const request: CheckRequest = {
      ...asked,
      profile: { ...asked.profile, readings },
      clock: server.clock,
      ...(only === undefined ? {} : { only }),
      ...(link === undefined ? {} : { link: link(server.clock) }),
      onEvent: (event) => event.kind === 'exchange' && onExchange?.(event.exchange),
    };
    const begun = performance.now();
    const checked = await (killedAfter === undefined ? checkTarget(request) : resumed(request, killedAfter));
    const { seconds = 0, ...result } = resultOf(checked);
    return { ...result, seconds: seconds - (performance.now() - begun) / 1000 };
  } finally {
    await server.close();
  }
}
