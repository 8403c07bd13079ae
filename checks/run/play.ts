/** Plays the scenes of everything that was asked for: first what spends little, then the limits, a lane a key. */
import type { Key } from '../profile/key.ts';
import { type Check, type GapObserver, watches, whyNotAsked } from './check.ts';
import { askedAgain, postflight } from './doubt.ts';
import { Findings } from './findings.ts';
import { conclusionOf } from './inconclusive.ts';
import { judgeCheck } from './judge.ts';
import type { Run } from './run.ts';
import type { RunEvent } from './run-events.ts';
import type { AnyScene, Scene } from './scene.ts';

/** What is asked of a run. */
export interface Asked {
  readonly checks: readonly Check[];
  readonly gapObservers: readonly GapObserver[];
  /** Played as well: their answers show what is asked for. */
  readonly alsoPlayed?: readonly AnyScene[];
}

const isInTurn = (scene: AnyScene): scene is Scene<unknown> => scene.kind === 'scene' && !scene.afterwards;

/** Whether a check is decided as soon as its own scenes are played, before any key is driven to its limits. */
export const isDecidedEarly = (check: Check): boolean => !watches(check) && check.scenes.every(isInTurn);

/**
 * Plays everything that is needed to judge what is asked for, and says of each check what is found as soon as that is
 * known. Only Inconclusive may come out of a scene; anything else is a defect of the harness and is thrown on.
 *
 * @returns the checks that were told
 */
export async function playRun(
  run: Run,
  { checks, gapObservers, alsoPlayed = [] }: Asked,
  onEvent: (event: RunEvent) => void = () => undefined,
): Promise<ReadonlySet<Check>> {
  const told = new Set<Check>();
  const tell = (check: Check) => {
    told.add(check);
    onEvent({ kind: 'check-ended', id: check.id, ...judgeCheck(check, new Findings(), run).weigh() });
  };
  const play = (scene: Scene<unknown>) => conclusionOf(run.play(scene));
  const rows = [...checks.filter((check) => whyNotAsked(check, run.facts) === undefined), ...gapObservers];
  for (const row of rows) {
    const isCheck = 'decide' in row;
    if (isCheck) onEvent({ kind: 'check-started', id: row.id });
    for (const scene of row.scenes.filter(isInTurn)) await play(scene);
    if (isCheck && isDecidedEarly(row)) tell(row);
  }
  for (const scene of alsoPlayed.filter(isInTurn)) await play(scene);
  const others = [...rows.flatMap(({ scenes }) => scenes), ...alsoPlayed];
  const lanes = new Map<Key, Scene<unknown>[]>(run.keys.map((key) => [key, []]));
  for (const scene of new Set(others))
    if (scene.kind === 'on-keys') for (const key of scene.keys(run.keys)) lanes.get(key)?.push(scene.on(key));
  await Promise.all(
    [...lanes.values()].map(async (lane) => {
      for (const scene of lane) await play(scene);
    }),
  );
  for (const scene of others) if (scene.kind === 'scene' && scene.afterwards) await play(scene);
  await play(askedAgain);
  await play(postflight);
  return told;
}
