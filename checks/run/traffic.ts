/** Judges the answers that other clients got. Nothing is sent, and nothing is known of what went before. */
import { type Exchange, isAnswered } from '../wire/exchange.ts';
import type { Check } from './check.ts';
import type { Finding } from './findings.ts';
import { asDeclined, type RunResult } from './judge.ts';
import type { RunFacts } from './run-facts.ts';
import { withGatewayAsFailure } from './sending/target-presence.ts';
import { GrowingTrace } from './trace.ts';
import { Watch } from './watch.ts';

const skipped = (what: string): Finding => ({
  verdict: 'skipped',
  reasons: [{ kind: 'traffic', what }],
  evidence: [],
});
const NEEDS_A_RUN = skipped('traffic alone does not tell it: a check asks for it');
const NOT_SEEN = skipped('no answer of the traffic shows it');

/** Judges each answer by itself; a row that needs several of them is skipped. */
export class Traffic {
  readonly trace: GrowingTrace;
  readonly #checks: readonly Check[];
  readonly #watch: Watch;

  constructor(checks: readonly Check[], facts: RunFacts) {
    this.#checks = checks;
    this.#watch = new Watch(checks);
    this.trace = new GrowingTrace(facts);
  }

  /** Judges an answer. @returns the checks that it is the first to break */
  see(passed: Exchange): readonly Check[] {
    const exchange = withGatewayAsFailure(passed);
    if (!isAnswered(exchange)) return [];
    this.trace.admit(exchange, 'tallied');
    return this.#watch.see(exchange, this.trace);
  }

  findingOf(check: Check): Finding {
    if (check.observe === undefined) return NEEDS_A_RUN;
    const finding = this.#watch.of(check).weigh();
    if (this.trace.run.declined.has(check.id)) return asDeclined(finding);
    if (finding.verdict !== 'inconclusive') return finding;
    const isSeen = finding.reasons.some(({ kind }) => kind !== 'not-shown');
    return isSeen ? { ...finding, verdict: 'skipped' } : NOT_SEEN;
  }

  get result(): RunResult {
    return {
      requirements: new Map(this.#checks.map((check) => [check.id, this.findingOf(check)])),
      gaps: new Map(),
    };
  }
}
