import type { AnsweredExchange } from '../wire/exchange.ts';
import type { Check, Judge } from './check.ts';
import { Findings } from './findings.ts';
import { Inconclusive } from './inconclusive.ts';
import type { TraceSoFar } from './trace.ts';

/** What checks find in the answers as they come, or as a stored run holds them. */
export class Watch {
  readonly #findings: ReadonlyMap<Check, Findings>;
  readonly #watching: readonly {
    readonly observe: NonNullable<Check['observe']>;
    readonly findings: Findings;
  }[];

  constructor(checks: readonly Check[]) {
    this.#findings = new Map(checks.map((check) => [check, new Findings()]));
    this.#watching = checks.flatMap((check) =>
      check.observe === undefined ? [] : [{ observe: check.observe, findings: this.of(check) }],
    );
  }

  readonly #glance = new Glance();

  /** To which the judgements of the check are added, once. */
  of(check: Check): Findings {
    return this.#findings.get(check) ?? new Findings();
  }

  /** Judges an answer. */
  see(exchange: AnsweredExchange, soFar: TraceSoFar): void {
    for (const { observe, findings } of this.#watching)
      findings.guard(() => observe(exchange, findings, soFar));
  }

  /** Whether an answer breaks a requirement: nothing is written down of it. */
  isBroken(exchange: AnsweredExchange, soFar: TraceSoFar): boolean {
    // Nothing is allocated here: that is twenty checks for each of a hundred thousand answers.
    this.#glance.broken = false;
    for (const { observe } of this.#watching) {
      try {
        observe(exchange, this.#glance, soFar);
      } catch (error) {
        if (!(error instanceof Inconclusive)) throw error;
      }
    }
    return this.#glance.broken;
  }
}

/** A judge who only tells whether something is broken. */
class Glance implements Judge {
  broken = false;
  breaks(): void {
    this.broken = true;
  }
  holds(): void {}
  inconclusive(): void {}
  skips(): void {}
  notApplicable(): void {}
}
