/**
 * Plays the scenes of everything that was asked for: first what spends little, in turn or a few beside one another, then
 * the limits, a lane a key.
 */

import { withCauses } from './cause.ts';
import { type Check, whyNotAsked } from './check.ts';
import { postflight } from './doubt.ts';
import { type Judging, judgeCheck, watched } from './judge.ts';
import type { Run } from './run.ts';
import type { RunEvent } from './run-events.ts';
import type { RunFacts } from './run-facts.ts';
import { isInTurn, keyScenesOf, type Needs, type Scene, sceneOf, scenesOf } from './scene.ts';

/** The scenes that drive each key to its limits, in turn. */
export function lanes(
  rows: readonly { readonly needs: Needs }[],
  { keys, permissions }: Pick<RunFacts, 'keys' | 'permissions'>,
): ReadonlyMap<string, readonly Scene<unknown>[]> {
  const byKey = new Map<string, Scene<unknown>[]>();
  for (const keyScene of keyScenesOf(rows)) {
    if (!permissions.has(keyScene.permit)) continue;
    for (const key of keyScene.keys(keys)) {
      const lane = byKey.get(key.name) ?? [];
      const scene = keyScene.on(key, keys);
      // Rows may need the same one, each on keys of its own.
      if (!lane.some(({ id }) => id === scene.id)) byKey.set(key.name, [...lane, scene]);
    }
  }
  return byKey;
}

/** The scenes that spend little, in turn; those that are played at the same moment together. */
function turnsOf(rows: readonly { readonly needs: Needs }[]): Scene<unknown>[][] {
  const turns: Scene<unknown>[][] = [];
  for (const scene of scenesOf(rows, isInTurn)) {
    if (scene.kind !== 'scene') continue;
    const last = turns.at(-1);
    if (scene.beside && last?.[0]?.beside === true) last.push(scene);
    else turns.push([scene]);
  }
  return turns;
}

/** Requests without a valid key change nothing for those with one, which need not wait for them. */
const sendsNoKey = ({ requests, onEveryKey, anonymous }: Scene<unknown>) =>
  requests === undefined && onEveryKey === undefined && anonymous !== undefined;

const seesTheRest = ({ observe, conclude }: Check) => observe !== undefined || conclude !== undefined;

/** Whether a check is settled as soon as its own scenes are played, before any key is driven to its limits. */
export const settlesEarly = (check: Check): boolean =>
  !seesTheRest(check) && Object.values(check.needs).every(isInTurn);

/**
 * Plays everything that is needed to judge what is asked for, and says of each check what is found as soon as that is
 * known. Only Unsettled may come out of a scene; anything else is a defect of the harness and is thrown on.
 */
export async function playRun(
  run: Run,
  { checks, gapObservers }: Judging,
  onEvent?: (event: RunEvent) => void,
): Promise<void> {
  // A resumed run has been answered before.
  const watch = watched(checks, run.trace);
  run.trace.isRemarkable = (exchange) => watch.see(exchange, run.trace);
  const asked = [...checks, ...gapObservers].filter((row) => whyNotAsked(row, run.facts) === undefined);
  const open = new Set(checks);
  const tell = (isDone: (check: Check) => boolean) => {
    if (onEvent === undefined) return;
    for (const check of open) {
      if (!isDone(check)) continue;
      open.delete(check);
      const settled = judgeCheck(check, watch.of(check), run, run.trace).settle();
      // What explains a row is not known before all are judged.
      const reason = withCauses(settled.reason, () => false);
      onEvent({ kind: 'check-ended', id: check.id, ...settled, reason });
    }
  };

  // What was not asked for, and no answer can break either, need not wait for the end.
  tell((check) => !asked.includes(check) && !seesTheRest(check));
  const turns = turnsOf(asked);
  const aside = turns.flat().filter(sendsNoKey);
  const played = new Set<unknown>();
  const playUpTo = async (scene: unknown) => {
    while (!played.has(scene)) {
      for (const one of aside) {
        // Its own turn waits for it, and tells what went wrong.
        if (Object.values(one.needs).every((need) => played.has(sceneOf(need))))
          run.play(one).catch(() => undefined);
      }
      const turn = turns.shift();
      if (turn === undefined) return;
      await Promise.all(turn.map((one) => run.play(one)));
      for (const one of turn) played.add(one);
    }
  };
  for (const row of asked) {
    if (checks.some((check) => check === row)) onEvent?.({ kind: 'check-started', id: row.id });
    for (const need of Object.values(row.needs).filter(isInTurn)) await playUpTo(sceneOf(need));
    tell((check) => check === row && settlesEarly(check));
  }
  await Promise.all(
    [...lanes(asked, { ...run.facts, keys: run.keys }).values()].map(async (scenes) => {
      for (const scene of scenes) await run.play(scene);
    }),
  );
  for (const { needs } of asked) for (const need of Object.values(needs)) await run.playNeed(need);
  await run.play(postflight(run.trace));
  tell(() => true);
}
