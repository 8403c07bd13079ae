import type { TargetClock } from '../limits/target-clock.ts';
import type { AnsweredExchange, Exchange } from '../wire/exchange.ts';
import type { RateReading } from '../wire/rate-headers.ts';
import type { Key } from './key-pool.ts';
import type { Probe } from './probe.ts';
import type { Permission } from './verdict.ts';

/** What a check or scene costs at most, so that the bill can be shown before the run. */
export interface Spending {
  /** Requests on functional keys. */
  readonly requests?: number;
  /** Requests that carry no valid key and so spend no quota. */
  readonly anonymous?: number;
  /** Animals that stay in the store. */
  readonly animals?: number;
}

/** What was found wrong: what the document asks of exactly this exchange, and what came back. */
export interface Violation {
  readonly expected: string;
  readonly actual: string;
}

/** Where a check says what it saw. A check that says nothing is inconclusive, never passed. */
export interface Judge {
  /** The requirement held in these exchanges. */
  holds(...evidence: Exchange[]): void;
  /** The requirement is broken; the decisive exchange first. */
  breaks(violation: Violation, ...evidence: Exchange[]): void;
  /** It could not be told, which is never a pass. */
  unsettled(reason: string, ...evidence: Exchange[]): void;
  /** The requirement does not bind this target (a profile without that plan, a date that has not come). */
  notApplicable(reason: string): void;
}

/** Thrown by a check, or by anything it calls, where it cannot tell; becomes an inconclusive verdict. */
export class Unsettled extends Error {
  override readonly name = 'Unsettled';
  readonly evidence: readonly Exchange[];

  constructor(reason: string, evidence: readonly Exchange[] = []) {
    super(reason);
    this.evidence = evidence;
  }
}

/** What a count ends with one of whose requests was under way when an earlier process of the run ended. */
export class CountInterrupted extends Unsettled {}

/** What a passive judgement may look at beside the exchange. */
export interface RunView {
  readonly targetClock: TargetClock;
  /** The key that an exchange was sent with, undefined where it carried no valid one. */
  keyOf(exchange: Exchange): Key | undefined;
  /** How many requests on the exchange's key were refused with 429 so far: from two on, a ban may be earned. */
  refusalsOf(exchange: Exchange): number;
}

/** Everything that was exchanged, for judgements that need the whole. */
export interface History extends RunView {
  readonly keys: readonly Key[];
  /** Every answered exchange as the rate limit saw it, in the order of sending. */
  readonly readings: readonly RateReading[];
  /** The exchanges that were kept in full, in the order of sending; uniform ones of a burst may be missing. */
  readonly exchanges: readonly Exchange[];
  /** The exchange behind a reading, where it was kept. */
  find(id: string): Exchange | undefined;
}

/**
 * A requirement's check: data and one function for each way to judge it. `observe` sees every answered exchange of the
 * three operations at no request, `run` provokes what does not come by itself, `conclude` judges the whole.
 */
export interface Check {
  /** The requirement's id in spec/requirements.yaml. */
  readonly id: string;
  /** What `run` may not do without. */
  readonly permit?: Permission;
  /** Why the requirement binds no target with these keys, whatever is permitted; undefined where it does. */
  readonly notApplicable?: (keys: readonly Key[]) => string | undefined;
  readonly spends?: Spending;
  /** Exchanges that several checks share; the first to need them pays. */
  readonly scenes?: readonly Scene<unknown>[];
  readonly observe?: (exchange: AnsweredExchange, judge: Judge, view: RunView) => void;
  readonly run?: (probe: Probe, judge: Judge) => Promise<void>;
  /** Runs when every other check has: confirms with a few requests what the whole run made suspicious. */
  readonly afterwards?: (probe: Probe, judge: Judge, history: History) => Promise<void>;
  readonly conclude?: (history: History, judge: Judge) => void;
}

/** Exchanges that several checks share, made once a run. */
export interface Scene<T> {
  readonly id: string;
  readonly permit?: Permission;
  readonly spends?: Spending;
  readonly scenes?: readonly Scene<unknown>[];
  readonly play: (probe: Probe) => Promise<T>;
}

/** What a run saw of a gap. */
export interface GapAnswer {
  readonly answer: string;
  readonly detail: string;
  readonly evidence: readonly Exchange[];
}

/** Answers a gap: from what was exchanged anyway, or with a few requests of its own. */
export interface GapObserver {
  /** The gap's id in spec/requirements.yaml. */
  readonly id: string;
  readonly permit?: Permission;
  readonly spends?: Spending;
  readonly scenes?: readonly Scene<unknown>[];
  /** Undefined where this run does not show the answer; throws Unsettled with the reason where it knows one. */
  readonly run?: (probe: Probe) => Promise<GapAnswer | undefined>;
  readonly conclude?: (history: History) => GapAnswer | undefined;
}
