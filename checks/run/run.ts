import type { Key } from '../profile/key.ts';
import type { Intent } from '../wire/exchange.ts';
import type { Check, Seen } from './check.ts';
import type { ReadJournal, StoredOutcome } from './journal.ts';
import { decodeOutcome, encodeOutcome, NotStored } from './outcomes.ts';
import { conclusionOf, Inconclusive } from './reason.ts';
import type { RunFacts } from './run-facts.ts';
import { type AnyScene, type InTurn, type KeyScenes, type Scene, SceneRun } from './scene.ts';
import { Sender, type SenderOptions } from './sending/sender.ts';
import { GrowingTrace } from './trace.ts';
import { Watch } from './watch.ts';

/** What a run works with. */
export interface RunOptions extends RunFacts, SenderOptions {
  /** An earlier part of this run: its scenes are not played again. */
  readonly resume?: ReadJournal | undefined;
  /** Rejudge: nothing is sent. */
  readonly offline?: boolean;
  /** They watch the answers as they come. */
  readonly checks?: readonly Check[];
}

/** One run against one target: plays scenes, each once, and keeps their outcomes and the trace. */
export class Run implements Seen {
  readonly trace: GrowingTrace;
  readonly sender: Sender;
  /** What the checks find in the answers as they come. */
  readonly watch: Watch;
  readonly #options: RunOptions;
  /** What came of scenes, and of parts of them, by their ids. */
  readonly #outcomes = new Map<string, unknown>();
  readonly #playing = new Map<string, Promise<void>>();
  /** How often earlier processes began a scene and were cut off. */
  readonly #cutOff = new Map<string, number>();
  readonly #asked = new Map<string, readonly string[]>();

  constructor(options: RunOptions) {
    this.#options = options;
    this.watch = new Watch(options.checks ?? []);
    this.trace = new GrowingTrace(options, this.watch);
    this.sender = new Sender(this.trace, (options.resume?.sessions ?? 0) + 1, options);
    if (options.resume !== undefined) this.#takeIn(options.resume);
  }

  /** The keys that the target knows. */
  get keys(): readonly Key[] {
    return this.sender.usable().map(({ key }) => key);
  }

  async play<T>(scene: Scene<T>): Promise<T> {
    if (this.#refusal(scene) === undefined) {
      const playing = this.#playing.get(scene.id) ?? this.#perform(scene);
      this.#playing.set(scene.id, playing);
      await playing;
    }
    return this.of(scene);
  }

  of<T>(scene: Scene<T>): T {
    const outcome = this.#outcomeOf(scene);
    if (outcome instanceof Inconclusive) throw outcome;
    return outcome;
  }

  maybe<T>(scene: Scene<T>): T | undefined {
    const outcome = this.#outcomeOf(scene);
    return outcome instanceof Inconclusive ? undefined : outcome;
  }

  on<T>(scenes: KeyScenes<T>): InTurn<T> {
    const played = scenes.keys(this.keys).map((key) => this.#outcomeOf(scenes.on(key)));
    if (played.length > 0) return played;
    const whyNot = ({ name }: Key) =>
      this.sender.laneOf({ key: name })?.unusable ?? `key ${name} cannot be used`;
    return scenes.keys(this.trace.run.keys).map((key) => new Inconclusive(whyNot(key)));
  }

  #outcomeOf<T>(scene: Scene<T>): T | Inconclusive {
    const refusal = this.#refusal(scene);
    if (refusal !== undefined) return refusal;
    if (!this.#outcomes.has(scene.id)) return new Inconclusive({ kind: 'not-stored', scene: scene.id });
    // A scene's id names the type of its outcome, which the map forgets.
    return this.#outcomes.get(scene.id) as T | Inconclusive;
  }

  /** The ids of scenes, and of those that they asked for. */
  scenesBehind(scenes: readonly AnyScene[]): readonly string[] {
    const found = new Set<string>();
    const visit = (id: string): void => {
      if (found.has(id)) return;
      found.add(id);
      this.#asked.get(id)?.forEach(visit);
    };
    for (const scene of scenes) {
      if (scene.kind === 'scene') visit(scene.id);
      else for (const key of scene.keys(this.keys)) visit(scene.on(key).id);
    }
    return [...found];
  }

  sceneRun(id: string, intent: Intent, sentBy = id): SceneRun {
    const cutOff = this.#cutOff.get(id) ?? 0;
    return new SceneRun(this.sender, { id, sentBy, intent, cutOff, play: (scene) => this.play(scene) });
  }

  /** Takes this for the outcome of a scene, which is not played. */
  assume(id: string, outcome: unknown): void {
    this.#outcomes.set(id, outcome);
    this.#playing.set(id, Promise.resolve());
  }

  #refusal({ permit }: Pick<Scene<unknown>, 'permit'>): Inconclusive | undefined {
    return permit === undefined || this.trace.run.permissions.has(permit)
      ? undefined
      : new Inconclusive({ kind: 'not-permitted', permission: permit });
  }

  async #perform({ id, eachSession, sentBy, intent, play }: Scene<unknown>): Promise<void> {
    const { journal, offline = false } = this.#options;
    if (offline || (eachSession !== true && this.#outcomes.has(id))) return;
    journal?.append({ playing: id });
    const run = this.sceneRun(id, intent, sentBy);
    const result = await conclusionOf(play(run)).finally(() => this.#asked.set(id, [...run.asked]));
    const kind = result instanceof Inconclusive ? result.reason.kind : undefined;
    const hasEnded = this.#options.signal?.aborted === true || this.sender.presence.gone !== undefined;
    // What ended with this process, or for want of something else, a resumed run plays again.
    if (kind === 'not-permitted' || kind === 'ended' || (kind !== undefined && hasEnded)) {
      this.#outcomes.set(id, result);
      return;
    }
    const outcome = encodeOutcome(result, (exchange) => {
      if (this.trace.keep(exchange)) journal?.append({ kept: exchange });
    });
    journal?.append({ scene: id, asked: [...run.asked], outcome });
    // What is handed on is what disk holds, so that a rejudged run sees the same.
    this.#outcomes.set(id, this.#decode(outcome));
  }

  #decode(encoded: unknown): unknown {
    return decodeOutcome(encoded, {
      exchange: (id) => this.trace.find(id),
      reading: (id) => this.trace.findReading(id),
      key: (name) => this.trace.run.keys.find((key) => key.name === name),
    });
  }

  #takeIn({ entries }: ReadJournal): void {
    const ended = new Map<string, StoredOutcome>();
    for (const entry of entries) {
      if ('session' in entry) {
        if (entry.session > 1) this.trace.endSession();
      } else if ('playing' in entry)
        this.#cutOff.set(entry.playing, (this.#cutOff.get(entry.playing) ?? 0) + 1);
      else if ('exchange' in entry) {
        const reading = this.trace.admit(entry.exchange, 'in-full');
        if (reading !== undefined) this.sender.learn(reading);
      } else if ('reading' in entry) {
        this.trace.admitReading(entry.reading);
        this.sender.learn(entry.reading);
      } else if ('kept' in entry) this.trace.keep(entry.kept);
      else if ('tallied' in entry) this.trace.admitTallied(entry.key, entry.tallied);
      else {
        ended.set(entry.scene, entry);
        this.#asked.set(entry.scene, entry.asked);
      }
    }
    for (const [id, { outcome }] of ended) {
      this.#cutOff.set(id, (this.#cutOff.get(id) ?? 1) - 1);
      try {
        this.#outcomes.set(id, this.#decode(outcome));
      } catch (error) {
        // What it names stood in a line that is damaged: the scene is played again.
        if (!(error instanceof NotStored)) throw error;
      }
    }
    // Of a run that is rejudged nobody goes on.
    if (this.#options.offline !== true) this.trace.endSession();
  }
}
