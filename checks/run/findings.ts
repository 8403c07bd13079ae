import type { Violation } from '../wire/answer.ts';
import type { Exchange } from '../wire/exchange.ts';
import { NotAsked, Unsettled } from './unsettled.ts';
import type { RequirementVerdict } from './verdict.ts';

/** A requirement's verdict with what led to it. */
export interface Settled {
  readonly verdict: RequirementVerdict;
  readonly reason: string;
  readonly violation?: Violation;
  /** The decisive one first. */
  readonly evidence: readonly Exchange[];
}

/** Nothing that this row is about occurred. */
export const NOTHING_SHOWN = 'no exchange of this run shows it';

const EVIDENCE_KEPT = 3;
const VIOLATIONS_KEPT = 5;
/** More than a run sends beside the bursts that fill a quota. */
const MOST_BROKEN_BY = 1000;

/** The scene that sent an exchange; parts of scenes, and keys, follow it after a colon. */
const sceneIdOf = ({ sentBy }: Exchange): string => sentBy.split(':')[0] ?? sentBy;

/**
 * Collects what a check says and settles it. One violation outweighs everything. What could not be told, or was not
 * asked for, outweighs what held: a requirement that was judged in part is not known to hold.
 */
export class Findings {
  readonly #held: Exchange[] = [];
  #heldCount = 0;
  readonly #broken: { violation: Violation; evidence: readonly Exchange[] }[] = [];
  #brokenCount = 0;
  readonly #brokenBy = new Set<string>();
  readonly #unsettled: { reason: string; evidence: readonly Exchange[] }[] = [];
  readonly #skipped = new Set<string>();
  #notApplicable: string | undefined;

  /** The requirement held in these exchanges. */
  holds(...evidence: Exchange[]): void {
    this.#heldCount += 1;
    for (const exchange of evidence) {
      if (this.#held.length < EVIDENCE_KEPT && !this.#held.includes(exchange)) this.#held.push(exchange);
    }
  }

  /** The requirement is broken; the decisive exchange first. */
  breaks(violation: Violation, ...evidence: Exchange[]): void {
    this.#brokenCount += 1;
    const [decisive] = evidence;
    if (decisive !== undefined && this.#brokenBy.size < MOST_BROKEN_BY)
      this.#brokenBy.add(decisive.id).add(sceneIdOf(decisive));
    if (this.#broken.length < VIOLATIONS_KEPT) this.#broken.push({ violation, evidence });
  }

  /** It was asked for and could not be told. */
  unsettled(reason: string, ...evidence: Exchange[]): void {
    if (!this.#unsettled.some((known) => known.reason === reason)) this.#unsettled.push({ reason, evidence });
  }

  /** A part of it was not asked for: a permission or a key was not given. */
  skips(reason: string): void {
    this.#skipped.add(reason);
  }

  /** The requirement does not bind this target (a profile without that plan, a date that has not come). */
  notApplicable(reason: string): void {
    this.#notApplicable ??= reason;
  }

  /** How many violations were found so far. */
  get broken(): number {
    return this.#brokenCount;
  }

  /** Whether it is broken in one of these exchanges; where there are none, in one that these scenes sent. */
  isBrokenIn(exchanges: readonly Exchange[], sceneIds: readonly string[]): boolean {
    const ids = exchanges.length > 0 ? exchanges.map(({ id }) => id) : sceneIds;
    return ids.some((id) => this.#brokenBy.has(id));
  }

  /** Runs a judgement; what it throws as unsettled is said here too. */
  guard(judge: () => void): void {
    try {
      judge();
    } catch (error) {
      this.admit(error);
    }
  }

  /** Says what a judgement threw as unsettled. @throws any other error, which is a defect */
  admit(error: unknown): void {
    if (!(error instanceof Unsettled)) throw error;
    if (error instanceof NotAsked) this.skips(error.message);
    else this.unsettled(error.message, ...error.evidence);
  }

  /** @param trusted which exchanges count; what rests on another one was not seen */
  settle(trusted: (exchange: Exchange) => boolean = () => true): Settled {
    const counts = ({ evidence }: { readonly evidence: readonly Exchange[] }) => evidence.every(trusted);
    const broken = this.#broken.filter(counts);
    const [first] = broken;
    if (first !== undefined) {
      const more = this.#brokenCount > 1 ? ` (${this.#brokenCount} times)` : '';
      return {
        verdict: 'fail',
        reason: `${first.violation.actual}${more}`,
        violation: first.violation,
        evidence: [...new Set(broken.flatMap(({ evidence }) => evidence))],
      };
    }
    const [open] = this.#unsettled;
    if (open !== undefined) {
      const reasons = this.#unsettled.map(({ reason }) => reason).join('; ');
      return { verdict: 'inconclusive', reason: reasons, evidence: open.evidence };
    }
    if (this.#skipped.size > 0)
      return { verdict: 'skipped', reason: [...this.#skipped].join('; '), evidence: [] };
    if (this.#heldCount > 0) {
      const times = this.#heldCount === 1 ? 'one observation' : `${this.#heldCount} observations`;
      return { verdict: 'pass', reason: `held in ${times}`, evidence: this.#held };
    }
    if (this.#notApplicable !== undefined) {
      return { verdict: 'not-applicable', reason: this.#notApplicable, evidence: [] };
    }
    return { verdict: 'inconclusive', reason: NOTHING_SHOWN, evidence: [] };
  }
}
