import type { Key } from '../profile/key.ts';
import { isAnswered } from '../wire/exchange.ts';
import { conclusionOf, Inconclusive } from './reason.ts';
import type { KeyScenes, Scene, SceneRun } from './scene-run.ts';

export type { KeyScenes, NoKey, Scene, SceneRun } from './scene-run.ts';

/** What a check can name. */
export type AnyScene = Scene<unknown> | KeyScenes<unknown>;

/** Defines a scene, ordinary unless it says otherwise. What it needs of others it asks for by `run.play(other)`. */
export const scene = <T>(
  id: string,
  options: Partial<Omit<Scene<T>, 'kind' | 'id' | 'play'>>,
  play: Scene<T>['play'],
): Scene<T> => ({ kind: 'scene', id, sentBy: id, intent: 'ordinary', ...options, play });

/** Defines a scene that is played on several keys; on one of them its id is `id:key`. */
export const sceneOnKeys = <T>(
  id: string,
  { intent, ...options }: Pick<KeyScenes<T>, 'permit' | 'keys' | 'wanted'> & Pick<Scene<T>, 'intent'>,
  play: (run: SceneRun, key: Key) => Promise<T>,
): KeyScenes<T> => ({
  kind: 'on-keys',
  ...options,
  on: (key) => scene(`${id}:${key.name}`, { permit: options.permit, intent }, (run) => play(run, key)),
});

/** What came of things that were tried one by one, or of a scene on its keys; or why nothing did. */
export type InTurn<T> = readonly (T | Inconclusive)[];

/** What came of a scene on those of its keys where it was played. @throws Inconclusive where nothing came of any */
export function playedOn<T>(outcomes: InTurn<T>): readonly [T, ...T[]] {
  const [first, ...more] = outcomes.flatMap((one) => (one instanceof Inconclusive ? [] : [{ one }]));
  if (first !== undefined) return [first.one, ...more.map(({ one }) => one)];
  throw outcomes.find((one) => one instanceof Inconclusive) ?? new Inconclusive('no usable key has the role');
}

/**
 * Tries things one by one. A lost answer costs only the thing that needed it. After a refusal that somebody else earned
 * nothing more is sent: it could earn a ban.
 *
 * @throws Inconclusive where the run has ended, so that a resumed one plays the scene anew
 */
export async function inTurn<T, U>(things: Iterable<T>, work: (thing: T) => Promise<U>): Promise<InTurn<U>> {
  const tried: (U | Inconclusive)[] = [];
  for (const thing of things) {
    const result = await conclusionOf(work(thing));
    if (result instanceof Inconclusive && result.reason.kind === 'ended') throw result;
    tried.push(result);
    if (result instanceof Inconclusive && result.evidence.every(isAnswered)) break;
  }
  return tried;
}

/** What came of all of them, tried one by one. @throws Inconclusive where one could not be done */
export async function allOf<T, U>(
  things: Iterable<T>,
  work: (thing: T) => Promise<U>,
): Promise<readonly U[]> {
  const results: U[] = [];
  for (const thing of things) results.push(await work(thing));
  return results;
}
