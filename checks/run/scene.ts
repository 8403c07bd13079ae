import type { Key } from '../profile/key.ts';
import type { Permission } from '../profile/permissions.ts';
import { type Exchange, isAnswered } from '../wire/exchange.ts';
import type { Probe } from './probe.ts';
import { TOGETHER } from './sending/key-lane.ts';
import { NotAsked, RunEnded, settledOr, Unsettled } from './unsettled.ts';

/** What a scene costs at most, so that the bill can be shown before the run. */
export interface Spending {
  /** Requests on functional keys; of a scene on a key, on that key. */
  readonly requests?: number;
  /** Requests on every key that is not for load. */
  readonly onEveryKey?: number;
  /** Requests that carry no valid key and so spend no quota. */
  readonly anonymous?: number;
  /** Animals that stay in the store. */
  readonly animals?: number;
}

/** A named, bounded piece of work that sends. It decides no verdict: its outcome is plain data. */
export interface Scene<out T> extends Spending {
  readonly kind: 'scene';
  readonly id: string;
  /** What it may not do without. */
  readonly permit?: Permission;
  readonly needs: Needs;
  /** Played when all other scenes were: it confirms what the whole trace made suspicious. */
  readonly afterwards: boolean;
  /** A resumed run plays it again, since it is about now. */
  readonly eachSession: boolean;
  /** Played at the same moment as its neighbours of this kind: what they find does not depend on one another. */
  readonly beside: boolean;
  readonly play: (probe: Probe, source: OutcomeSource) => Promise<T>;
}

/** The same scene on several keys: the keys side by side, the scenes of one key in turn. */
export interface KeyScene<out T> {
  readonly kind: 'key-scene';
  readonly id: string;
  readonly permit: Permission;
  readonly needs: Needs;
  /** The keys of a profile that it is played on, in that order. */
  readonly keys: (keys: readonly Key[]) => readonly Key[];
  /** What is said where a profile has none of them. */
  readonly lacks: string;
  readonly on: (key: Key, keys: readonly Key[]) => Scene<T>;
}

/** A scene without whose outcome another one, or a judge, can do. */
export interface Optional<out S extends AnyScene = AnyScene> {
  readonly kind: 'optional';
  readonly scene: S;
}

type AnyScene = Scene<unknown> | KeyScene<unknown>;
export type Need = AnyScene | Optional;
/** What a scene or a check needs, by the names under which it is handed over. */
export type Needs = Readonly<Record<string, Need>>;

/** What came of a scene on one key. */
export type KeyOutcome<T> =
  | { readonly kind: 'played'; readonly key: Key; readonly outcome: T }
  | { readonly kind: 'unsettled'; readonly key: Key; readonly reason: Unsettled };

type OutcomeOf<N extends Need> =
  N extends Optional<infer S>
    ? OutcomeOf<S> | undefined
    : N extends KeyScene<infer T>
      ? readonly KeyOutcome<T>[]
      : N extends Scene<infer T>
        ? T
        : never;
export type OutcomesOf<N extends Needs> = { readonly [Name in keyof N]: OutcomeOf<N[Name]> };

/** Where the outcomes of played scenes are. */
export interface OutcomeSource {
  /** The keys that the target knows. */
  readonly keys: readonly Key[];
  /** @throws Unsettled where the scene could not be played to its end */
  outcomeOf<T>(scene: Scene<T>): T;
}

export const sceneOf = (need: Need): AnyScene => (need.kind === 'optional' ? need.scene : need);

/**
 * The scenes that rows need, and those that these need, each once. What another one needs comes before it.
 *
 * @param isPlayed whether a scene is played at all, and with it what it needs
 */
export function scenesOf(
  rows: readonly { readonly needs: Needs }[],
  isPlayed: (scene: AnyScene) => boolean = () => true,
): readonly AnyScene[] {
  const found = new Set<AnyScene>();
  const visit = ({ needs }: { readonly needs: Needs }): void => {
    for (const scene of Object.values(needs).map(sceneOf)) {
      if (found.has(scene) || !isPlayed(scene)) continue;
      visit(scene);
      found.add(scene);
    }
  };
  rows.forEach(visit);
  return [...found];
}

/** The scenes on keys that rows need, each once, in the order in which a key's own are played. */
export const keyScenesOf = (rows: readonly { readonly needs: Needs }[]): readonly KeyScene<unknown>[] =>
  scenesOf(rows).filter((scene) => scene.kind === 'key-scene');

/** Whether a scene is played in turn with others: it drives no key to its limits, and needs none that does. */
export function isInTurn(need: Need): boolean {
  const scene = sceneOf(need);
  return scene.kind === 'scene' && !scene.afterwards && keyScenesOf([scene]).length === 0;
}

function outcomeOfNeed(need: Need, source: OutcomeSource): unknown {
  switch (need.kind) {
    case 'scene':
      return source.outcomeOf(need);
    case 'optional':
      return settledOr(
        () => outcomeOfNeed(need.scene, source),
        () => undefined,
      );
    case 'key-scene':
      return need.keys(source.keys).map(
        (key): KeyOutcome<unknown> =>
          settledOr<KeyOutcome<unknown>, KeyOutcome<unknown>>(
            () => ({ kind: 'played', key, outcome: source.outcomeOf(need.on(key, source.keys)) }),
            (reason) => {
              if (reason instanceof NotAsked) throw reason;
              return { kind: 'unsettled', key, reason };
            },
          ),
      );
  }
}

/**
 * The outcomes of what is needed, by name.
 *
 * @throws Unsettled where one that cannot be done without is not there
 */
export function gather<N extends Needs>(needs: N, source: OutcomeSource): OutcomesOf<N> {
  const entries = Object.entries(needs).map(([name, need]) => [name, outcomeOfNeed(need, source)]);
  // A need names the type of its outcome, which a list of entries forgets.
  return Object.fromEntries(entries) as OutcomesOf<N>;
}

/** The permission without which this cannot be had; with `given`, the first one that is not among these. */
export function permitOf(
  { permit, needs }: { readonly permit?: Permission; readonly needs: Needs },
  given: ReadonlySet<Permission> = new Set(),
): Permission | undefined {
  if (permit !== undefined && !given.has(permit)) return permit;
  for (const need of Object.values(needs)) {
    const wanted = need.kind === 'optional' ? undefined : permitOf(need, given);
    if (wanted !== undefined) return wanted;
  }
  return undefined;
}

/** The reason of what is skipped for want of a permission. */
export const needsPermission = (permission: Permission): string => `needs the permission ${permission}`;

/** What came of a scene on all of its keys; where nothing did, why. @throws Unsettled */
export function playedOn<T>(
  outcomes: readonly KeyOutcome<T>[],
): { readonly key: Key; readonly outcome: T }[] {
  const played = outcomes.flatMap((one) => (one.kind === 'played' ? [one] : []));
  const [failed] = outcomes.flatMap((one) => (one.kind === 'unsettled' ? [one.reason] : []));
  if (played.length === 0 && failed !== undefined) throw failed;
  return played;
}

export interface SceneOptions<N extends Needs> extends Spending {
  readonly needs?: N;
  readonly permit?: Permission;
  readonly afterwards?: boolean;
  readonly eachSession?: boolean;
  readonly beside?: boolean;
}

/** Defines a scene. */
export function scene<T, const N extends Needs = Record<never, never>>(
  id: string,
  { needs, afterwards = false, eachSession = false, beside = false, ...options }: SceneOptions<N>,
  play: (probe: Probe, outcomes: OutcomesOf<N>) => Promise<T>,
): Scene<T> {
  const needed = needs ?? ({} as N);
  return {
    kind: 'scene',
    id,
    needs: needed,
    afterwards,
    eachSession,
    beside,
    ...options,
    play: (probe, source) => play(probe, gather(needed, source)),
  };
}

export interface KeySceneOptions<N extends Needs> {
  readonly permit: Permission;
  readonly needs?: N;
  readonly keys: (keys: readonly Key[]) => readonly Key[];
  readonly lacks: string;
  readonly spends: (key: Key, keys: readonly Key[]) => Spending;
}

/** Defines a scene that is played on several keys; on one of them its id is `id:key`. */
export function keyScene<T, const N extends Needs = Record<never, never>>(
  id: string,
  { needs, permit, keys, lacks, spends }: KeySceneOptions<N>,
  play: (probe: Probe, key: Key, outcomes: OutcomesOf<N>) => Promise<T>,
): KeyScene<T> {
  return {
    kind: 'key-scene',
    id,
    permit,
    needs: needs ?? {},
    keys,
    lacks,
    on: (key, all) =>
      scene<T, N>(
        `${id}:${key.name}`,
        { permit, ...(needs === undefined ? {} : { needs }), ...spends(key, all) },
        (probe, outcomes) => play(probe, key, outcomes),
      ),
  };
}

/** What came of things that were tried one by one. */
export interface InTurn<out T> {
  readonly done: readonly T[];
  /** Why the others could not be done. */
  readonly unsettled: readonly { readonly reason: string; readonly evidence: readonly Exchange[] }[];
}

export const NOTHING_TRIED: InTurn<never> = { done: [], unsettled: [] };

/** So many of a kind show in X-RateLimit-Remaining what each of them costs: one more than must agree on it. */
const SHOWING = 5;

type Try = <T, U>(things: Iterable<T>, work: (thing: T) => Promise<U>) => Promise<InTurn<U>>;

/**
 * Tries things one by one. A lost answer costs only the thing that needed it. After a refusal that somebody else earned
 * nothing more is sent: it could earn a ban.
 *
 * @throws RunEnded, so that a resumed run plays the scene anew
 */
export const inTurn: Try = (things, work) => tried([...things], work, Number.POSITIVE_INFINITY);

/** Tries a few at the same time, where none depends on another one; otherwise as `inTurn`. */
export const sideBySide: Try = (things, work) => tried([...things], work, 0);

/** Tries the first of a kind one by one, so that it shows what each costs, and the others side by side. */
export const firstInTurn: Try = (things, work) => tried([...things], work, SHOWING);

async function tried<T, U>(
  things: readonly T[],
  work: (thing: T) => Promise<U>,
  alone: number,
): Promise<InTurn<U>> {
  const results: InTurn<U>[] = [];
  const queue = things.entries();
  let isOver = false;
  const next = async (): Promise<boolean> => {
    const { value } = queue.next();
    if (isOver || value === undefined) return false;
    const [index, thing] = value;
    try {
      results[index] = { done: [await work(thing)], unsettled: [] };
    } catch (error) {
      if (!(error instanceof Unsettled) || error instanceof RunEnded) {
        isOver = true;
        throw error;
      }
      const { message: reason, evidence } = error;
      results[index] = { done: [], unsettled: [{ reason, evidence }] };
      isOver ||= evidence.every(isAnswered);
    }
    return true;
  };
  for (let count = 0; count < alone && (await next()); count += 1);
  await Promise.all(
    Array.from({ length: TOGETHER }, async () => {
      while (await next());
    }),
  );
  return joined(Object.values(results));
}

/** What came of all of them, tried side by side. @throws Unsettled where one could not be done */
export async function allOf<T, U>(
  things: Iterable<T>,
  work: (thing: T) => Promise<U>,
): Promise<readonly U[]> {
  const { done, unsettled } = await sideBySide(things, work);
  for (const { reason, evidence } of unsettled) throw new Unsettled(reason, evidence);
  return done;
}

/** What came of several such attempts. */
export const joined = <T>(all: readonly InTurn<T>[]): InTurn<T> => ({
  done: all.flatMap(({ done }) => done),
  unsettled: all.flatMap(({ unsettled }) => unsettled),
});

/** A need that may be missing. */
export const optional = <S extends AnyScene>(scene: S): Optional<S> => ({ kind: 'optional', scene });
