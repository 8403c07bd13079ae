/** What scripts tell the runner beside samples: one JSON object a line. Plain data, for Node and k6. */

/** A response that breaks the contract, with what is needed to understand it. */
export interface ViolationEvent {
  readonly kind: 'violation';
  /** Id in spec/requirements.yaml. */
  readonly requirement: string;
  readonly detail: string;
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  readonly key: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** At most 2,000 characters. */
  readonly body: string;
}

/** Something that the scenario asserts, with what was expected and seen. */
export interface AssertionEvent {
  readonly kind: 'assertion';
  readonly name: string;
  readonly key: string;
  readonly held: boolean;
  readonly expected: string;
  readonly actual: string;
}

/** Something that the scenario asserts, where it did not come to that: neither held nor broken. */
export interface UndecidedEvent {
  readonly kind: 'undecided';
  readonly name: string;
  readonly key: string;
  readonly why: string;
}

/** Something that the scenario measured once. */
export interface MeasurementEvent {
  readonly kind: 'measurement';
  readonly name: string;
  readonly key: string;
  readonly value: number;
  readonly unit: string;
}

/** Ids of animals that were added, with every digit. */
export interface AddedEvent {
  readonly kind: 'added';
  readonly ids: readonly string[];
}

/** How late iterations began, in milliseconds against an even schedule. */
export interface LagEvent {
  readonly kind: 'lag';
  readonly milliseconds: readonly number[];
}

/** k6's own figures at the end of the load: what its API answers to GET /v1/metrics. */
export interface FiguresEvent {
  readonly kind: 'figures';
  readonly metrics: string;
}

export type ScriptEvent =
  | ViolationEvent
  | AssertionEvent
  | UndecidedEvent
  | MeasurementEvent
  | AddedEvent
  | LagEvent
  | FiguresEvent;
