/** Plays the scenes of everything that was asked for: first what spends little, then the limits, a lane a key. */
import { type Check, isShownByAll, watches, whyNotAsked } from './check.ts';
import { askedAgain, postflight } from './doubt.ts';
import { type Finding, Findings } from './findings.ts';
import { type Judging, judgeCheck, judgeRun, type RunResult } from './judge.ts';
import { conclusionOf } from './reason.ts';
import type { Run } from './run.ts';
import type { RunEvent } from './run-events.ts';
import type { AnyScene, Scene } from './scene.ts';

const isInTurn = (scene: AnyScene): scene is Scene<unknown> => scene.kind === 'scene' && !scene.afterwards;

/** Whether a check is decided as soon as its own scenes are played, before any key is driven to its limits. */
export const isDecidedEarly = (check: Check): boolean => !watches(check) && check.scenes.every(isInTurn);

/**
 * Plays everything that is needed to judge what is asked for, judges it, and says of each check what is found as soon as
 * that is known. Only Inconclusive may come out of a scene; anything else is a defect of the harness and is thrown on.
 */
export async function playRun(
  run: Run,
  judging: Judging,
  onEvent: (event: RunEvent) => void = () => undefined,
): Promise<RunResult> {
  const { checks, gapObservers, harmless = [] } = judging;
  const told = new Set<string>();
  const tell = (id: string, finding: Finding) => {
    told.add(id);
    onEvent({ kind: 'check-ended', id, ...finding });
  };
  const play = (scene: Scene<unknown>) => conclusionOf(run.play(scene));
  const asked = checks.filter((check) => whyNotAsked(check, run.trace.run) === undefined);
  const rows = [...asked, ...gapObservers, { scenes: asked.some(isShownByAll) ? harmless : [] }];
  for (const row of rows) {
    for (const scene of row.scenes.filter(isInTurn)) await play(scene);
    if ('decide' in row && isDecidedEarly(row)) tell(row.id, judgeCheck(row, new Findings(), run).weigh());
  }
  const others = rows.flatMap(({ scenes }) => scenes);
  const { keys } = run;
  const onKeys = others.filter((scene) => scene.kind === 'on-keys');
  await Promise.all(
    keys.map(async (key) => {
      for (const scene of onKeys) if (scene.keys(keys).includes(key)) await play(scene.on(key));
    }),
  );
  for (const scene of others) if (scene.kind === 'scene' && scene.afterwards) await play(scene);
  await play(askedAgain);
  await play(postflight);
  const result = judgeRun(judging, run);
  for (const { id } of checks) {
    const finding = result.requirements.get(id);
    if (finding !== undefined && !told.has(id)) tell(id, finding);
  }
  return result;
}
