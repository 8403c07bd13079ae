import type { Permission } from '../../spec/permissions.ts';
import type { Key } from '../profile/key.ts';
import { type Exchange, type Intent, isAnswered } from '../wire/exchange.ts';
import { Inconclusive, RunEnded } from './inconclusive.ts';
import type { KeyWanted, Reason } from './reason.ts';
import type { KeyOutcome, KeyScenes, Scene, SceneRun } from './scene-run.ts';

export type { KeyOutcome, KeyScenes, Scene } from './scene-run.ts';

/** What a check can name. */
export type AnyScene = Scene<unknown> | KeyScenes<unknown>;

export interface SceneOptions {
  readonly permit?: Permission;
  /** Ordinary by default. */
  readonly intent?: Intent;
  readonly afterwards?: boolean;
  readonly eachSession?: boolean;
}

/** Defines a scene. What it needs of others it asks for by `run.play(other)`. */
export function scene<T>(
  id: string,
  { permit, intent = 'ordinary', afterwards = false, eachSession = false }: SceneOptions,
  play: (run: SceneRun) => Promise<T>,
): Scene<T> {
  return { kind: 'scene', id, permit, intent, afterwards, eachSession, play };
}

export interface KeyScenesOptions {
  readonly permit: Permission;
  readonly intent: Intent;
  readonly keys: (keys: readonly Key[]) => readonly Key[];
  readonly wanted: KeyWanted;
}

/** Defines a scene that is played on several keys; on one of them its id is `id:key`. */
export function sceneOnKeys<T>(
  id: string,
  { permit, intent, keys, wanted }: KeyScenesOptions,
  play: (run: SceneRun, key: Key) => Promise<T>,
): KeyScenes<T> {
  return {
    kind: 'on-keys',
    permit,
    keys,
    wanted,
    on: (key) => scene(`${id}:${key.name}`, { permit, intent }, (run) => play(run, key)),
  };
}

/** What came of a scene on those of its keys where it was played. @throws Inconclusive where nothing came of any */
export function playedOn<T>(
  outcomes: readonly KeyOutcome<T>[],
): { readonly key: Key; readonly outcome: T }[] {
  const played = outcomes.flatMap((one) => (one.kind === 'played' ? [one] : []));
  const [failed] = outcomes.flatMap((one) => (one.kind === 'inconclusive' ? [one.reason] : []));
  if (played.length === 0 && failed !== undefined) throw failed;
  return played;
}

/** What came of things that were tried one by one. */
export interface InTurn<out T> {
  readonly done: readonly T[];
  /** Why the others could not be done. */
  readonly inconclusive: readonly { readonly reason: Reason; readonly evidence: readonly Exchange[] }[];
}

export const NOTHING_TRIED: InTurn<never> = { done: [], inconclusive: [] };

/**
 * Tries things one by one. A lost answer costs only the thing that needed it. After a refusal that somebody else earned
 * nothing more is sent: it could earn a ban.
 *
 * @throws RunEnded, so that a resumed run plays the scene anew
 */
export async function inTurn<T, U>(things: Iterable<T>, work: (thing: T) => Promise<U>): Promise<InTurn<U>> {
  const done: U[] = [];
  const inconclusive: { reason: Reason; evidence: readonly Exchange[] }[] = [];
  for (const thing of things) {
    try {
      done.push(await work(thing));
    } catch (error) {
      if (!(error instanceof Inconclusive) || error instanceof RunEnded) throw error;
      const { reason, evidence } = error;
      inconclusive.push({ reason, evidence });
      if (evidence.every(isAnswered)) break;
    }
  }
  return { done, inconclusive };
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

/** What came of several such attempts. */
export const joined = <T>(all: readonly InTurn<T>[]): InTurn<T> => ({
  done: all.flatMap(({ done }) => done),
  inconclusive: all.flatMap(({ inconclusive }) => inconclusive),
});
