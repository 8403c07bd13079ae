import type { Key } from '../profile/key.ts';
import type { Exchange } from '../wire/exchange.ts';
import type { JournalContent, StoredOutcome } from './journal.ts';
import { decodeOutcome, encodeOutcome, NotStored } from './outcomes.ts';
import { type Playable, Probe } from './probe.ts';
import type { RunFacts } from './run-facts.ts';
import { type Need, needsPermission, type OutcomeSource, type Scene } from './scene.ts';
import { Sender, type SenderOptions } from './sending/sender.ts';
import { GrowingTrace } from './trace.ts';
import { NotAsked, Unsettled } from './unsettled.ts';

/** What a run works with. */
export interface RunOptions extends RunFacts, SenderOptions {
  /** An earlier part of this run: its scenes are not played again. */
  readonly stored?: Extract<JournalContent, { ok: true }> | undefined;
  /** Rejudge: nothing is sent. */
  readonly offline?: boolean;
}

/** What came of a scene, or of a part of one. */
type Played =
  | { readonly kind: 'outcome'; readonly outcome: unknown }
  | { readonly kind: 'unsettled'; readonly reason: Unsettled };

/** One run against one target: plays scenes, each once, and keeps their outcomes and the trace. */
export class Run implements OutcomeSource {
  readonly trace: GrowingTrace;
  readonly sender: Sender;
  readonly #options: RunOptions;
  readonly #played = new Map<string, Played>();
  readonly #playing = new Map<string, Promise<void>>();
  /** Outcomes on disk whose scenes nobody asked for yet. */
  readonly #stored = new Map<string, StoredOutcome>();
  /** How often earlier processes began a scene and were cut off. */
  readonly #cutOff = new Map<string, number>();
  /** How many exchanges of a scene are on record. */
  readonly #recorded = new Map<string, number>();

  constructor(options: RunOptions) {
    this.#options = options;
    const { id, baseUrl, keys, permissions, sampleCategoryId, clockSpeed } = options;
    this.trace = new GrowingTrace({ id, baseUrl, keys, permissions, sampleCategoryId, clockSpeed });
    this.sender = new Sender(this.trace, (options.stored?.sessions ?? 0) + 1, options);
    if (options.stored !== undefined) this.#takeIn(options.stored);
  }

  get facts(): RunFacts {
    return this.trace.run;
  }

  /** The keys that the target knows. */
  get keys(): readonly Key[] {
    return this.sender.usable().map(({ key }) => key);
  }

  /** Plays a scene and what it needs, once; what comes of it is in `outcomeOf`. */
  play(scene: Scene<unknown>): Promise<void> {
    return this.#once(scene.id, async () => {
      if (this.#refusal(scene) !== undefined) return;
      // In turn: what one scene sends is not to meet another one's.
      for (const need of Object.values(scene.needs)) await this.playNeed(need);
      await this.#perform(scene, (probe) => scene.play(probe, this), undefined, scene.eachSession);
    });
  }

  /** Plays what a scene or a check needs; a scene on several keys on all of them side by side. */
  async playNeed(need: Need): Promise<void> {
    if (need.kind === 'optional') await this.playNeed(need.scene);
    else if (need.kind === 'scene') await this.play(need);
    else await Promise.all(need.keys(this.keys).map((key) => this.play(need.on(key, this.keys))));
  }

  outcomeOf<T>(scene: Scene<T>): T {
    const refusal = this.#refusal(scene);
    if (refusal !== undefined) throw refusal;
    const played = this.#played.get(scene.id);
    if (played === undefined) throw new Unsettled(`the stored run did not play the scene ${scene.id}`);
    if (played.kind === 'unsettled') throw played.reason;
    // A scene's id names the type of its outcome, which the map forgets.
    return played.outcome as T;
  }

  /** A scene's way to the target, for what is sent before any scene can be played. */
  probe(id: string, within?: string): Probe {
    return new Probe({
      sender: this.sender,
      id,
      within,
      cutOff: this.#cutOff.get(id) ?? 0,
      recorded: this.#recorded.get(id) ?? 0,
      part: (part, parent) => this.#part(part, parent),
    });
  }

  /** Lets a scene have come to this. */
  settle(id: string, outcome: unknown): void {
    this.#played.set(id, { kind: 'outcome', outcome });
    this.#playing.set(id, Promise.resolve());
  }

  #refusal({ permit }: Scene<unknown>): NotAsked | undefined {
    return permit === undefined || this.facts.permissions.has(permit)
      ? undefined
      : new NotAsked(needsPermission(permit));
  }

  #once(id: string, play: () => Promise<void>): Promise<void> {
    const started = this.#playing.get(id);
    if (started !== undefined) return started;
    const playing = play();
    this.#playing.set(id, playing);
    return playing;
  }

  async #part<T>(part: Playable<T>, within: string): Promise<T> {
    await this.#once(part.id, () => this.#perform(part, (probe) => part.play(probe), within, false));
    const played = this.#played.get(part.id);
    if (played?.kind === 'unsettled') throw played.reason;
    // As in `outcomeOf`.
    return played?.outcome as T;
  }

  async #perform(
    { id }: { readonly id: string },
    work: (probe: Probe) => Promise<unknown>,
    within: string | undefined,
    eachSession: boolean,
  ): Promise<void> {
    const { journal, offline = false } = this.#options;
    const stored = eachSession && !offline ? undefined : this.#fromDisk(id);
    if (stored !== undefined || offline) {
      if (stored !== undefined) this.#played.set(id, stored);
      return;
    }
    journal?.append({ playing: id });
    try {
      const outcome = await work(this.probe(id, within));
      // What is handed on is what disk holds, so that a rejudged run sees the same.
      const encoded = encodeOutcome(outcome, (exchange) => this.#keep(exchange));
      journal?.append({ scene: id, outcome: encoded });
      this.#played.set(id, { kind: 'outcome', outcome: this.#decode(encoded) });
    } catch (error) {
      if (!(error instanceof Unsettled)) throw error;
      this.#played.set(id, { kind: 'unsettled', reason: error });
      // What ended with this process, or for want of something else, a resumed run plays again.
      if (error instanceof NotAsked || this.#hasEnded()) return;
      for (const exchange of error.evidence) this.#keep(exchange);
      journal?.append({ scene: id, unsettled: error.message, evidence: error.evidence.map(({ id }) => id) });
    }
  }

  #hasEnded(): boolean {
    return this.#options.signal?.aborted === true || this.sender.presence.gone !== undefined;
  }

  #keep(exchange: Exchange): void {
    if (this.trace.keep(exchange)) this.#options.journal?.append({ kept: exchange });
  }

  #decode(encoded: unknown): unknown {
    return decodeOutcome(encoded, {
      exchange: (id) => this.trace.find(id),
      reading: (id) => this.trace.findReading(id),
      key: (name) => this.facts.keys.find((key) => key.name === name),
    });
  }

  #fromDisk(id: string): Played | undefined {
    const stored = this.#stored.get(id);
    if (stored === undefined) return undefined;
    if (stored.unsettled !== undefined) {
      const evidence = (stored.evidence ?? []).flatMap((evidenceId) => this.trace.find(evidenceId) ?? []);
      return { kind: 'unsettled', reason: new Unsettled(stored.unsettled, evidence) };
    }
    try {
      return { kind: 'outcome', outcome: this.#decode(stored.outcome) };
    } catch (error) {
      // An exchange that it names stood in a line that is damaged: the scene is played again.
      if (error instanceof NotStored) return undefined;
      throw error;
    }
  }

  #takeIn({ entries }: Extract<JournalContent, { ok: true }>): void {
    const began = new Map<string, number>();
    for (const entry of entries) {
      if ('session' in entry) this.trace.endSession();
      else if ('playing' in entry) began.set(entry.playing, (began.get(entry.playing) ?? 0) + 1);
      else if ('exchange' in entry) this.#takeExchange(entry.exchange);
      else if ('reading' in entry) {
        this.trace.admitReading(entry.reading);
        this.#learn(entry.reading.id, entry.reading);
      } else if ('kept' in entry) this.trace.keep(entry.kept);
      else if ('tallied' in entry) this.trace.admitTallied(entry.key, entry.tallied);
      else this.#stored.set(entry.scene, entry);
    }
    // Of a run that is rejudged nobody goes on.
    if (this.#options.offline !== true) this.trace.endSession();
    for (const [id, times] of began) this.#cutOff.set(id, times - (this.#stored.has(id) ? 1 : 0));
  }

  #takeExchange(exchange: Exchange): void {
    const { reading } = this.trace.admit(exchange, 'in-full');
    this.#learn(exchange.id, reading);
  }

  #learn(id: string, reading: Parameters<Sender['learn']>[0] | undefined): void {
    const [sender = id, number = '0'] = id.split('#');
    this.#recorded.set(sender, Math.max(this.#recorded.get(sender) ?? 0, Number(number)));
    if (reading !== undefined) this.sender.learn(reading);
  }
}
