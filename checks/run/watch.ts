import type { AnsweredExchange } from '../wire/exchange.ts';
import type { Check } from './check.ts';
import { Findings } from './findings.ts';
import type { TraceSoFar, Watcher } from './trace.ts';

type Watching = Check & Required<Pick<Check, 'observe'>>;

/** What checks find in the answers as they come, or as a stored run holds them. */
export class Watch implements Watcher {
  readonly #findings: ReadonlyMap<Check, Findings>;
  readonly #watching: readonly Watching[];

  constructor(checks: readonly Check[]) {
    this.#findings = new Map(checks.map((check) => [check, new Findings()]));
    this.#watching = checks.filter((check): check is Watching => check.observe !== undefined);
  }

  /** To which the judgements of the check are added, once. */
  of(check: Check): Findings {
    return this.#findings.get(check) ?? new Findings();
  }

  /** Judges an answer. @returns the checks that it is the first to break */
  see(exchange: AnsweredExchange, soFar: TraceSoFar): readonly Check[] {
    return this.#watching.filter((check) => {
      const findings = this.of(check);
      const before = findings.broken;
      findings.guard(() => check.observe(exchange, findings, soFar));
      return before === 0 && findings.broken > 0;
    });
  }

  /** Whether an answer breaks a requirement: nothing is written down of it. */
  isBroken(exchange: AnsweredExchange, soFar: TraceSoFar): boolean {
    const findings = new Findings();
    for (const { observe } of this.#watching) findings.guard(() => observe(exchange, findings, soFar));
    return findings.broken > 0;
  }
}
