import { isDeepStrictEqual } from 'node:util';
import type { Violation } from '../wire/answer.ts';
import { curl } from '../wire/curl.ts';
import type { Exchange } from '../wire/exchange.ts';
import { concluded, Inconclusive, type Reason, reasonOf } from './reason.ts';

/**
 * What a run says of one requirement: `inconclusive` was asked for and could not be told, `skipped` was not asked for
 * (a permission or a key was not given, `--only` left it out).
 */
export type RequirementVerdict = 'pass' | 'fail' | 'inconclusive' | 'skipped' | 'not-applicable';

/** A requirement's verdict with what led to it. */
export interface Finding {
  readonly verdict: RequirementVerdict;
  /** Why, the first one first. */
  readonly reasons: readonly Reason[];
  readonly violation?: Violation;
  /** The decisive one first. */
  readonly evidence: readonly Exchange[];
}

const EVIDENCE_KEPT = 3;
const VIOLATIONS_SHOWN = 5;
/** More than a run sends beside the bursts that fill a quota. */
const VIOLATIONS_KEPT = 1000;

/** How much a reader has to type to see a violation: a plain request shows it better than an odd one. */
const effortOf = ({ evidence: [decisive] }: { readonly evidence: readonly Exchange[] }) =>
  decisive === undefined ? 0 : curl(decisive, '', undefined).length;

/**
 * Collects what a check says and weighs it. One violation outweighs everything. What could not be told, or was not
 * asked for, outweighs what held: a requirement that was judged in part is not known to hold.
 */
export class Findings {
  readonly #held: Exchange[] = [];
  #heldCount = 0;
  readonly #broken: { violation: Violation; evidence: readonly Exchange[] }[] = [];
  #brokenCount = 0;
  readonly #open: { reason: Reason; evidence: readonly Exchange[] }[] = [];

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
    if (this.#broken.length < VIOLATIONS_KEPT) this.#broken.push({ violation, evidence });
  }

  /** It could not be told: whether it was asked for and binds this target, the reason's kind says. */
  inconclusive(why: Reason | string, ...evidence: Exchange[]): void {
    const reason = reasonOf(why);
    if (!this.#open.some((known) => isDeepStrictEqual(known.reason, reason)))
      this.#open.push({ reason, evidence });
  }

  /** The requirement does not bind this target (a profile without that plan, a date that has not come). */
  notApplicable(what: string): void {
    this.inconclusive({ kind: 'unbound', what });
  }

  /** How many violations were found so far. */
  get broken(): number {
    return this.#brokenCount;
  }

  /** Whether one of these exchanges decides that it is broken. */
  isBrokenIn(exchanges: readonly Exchange[]): boolean {
    return this.#broken.some(({ evidence: [decisive] }) => exchanges.some(({ id }) => id === decisive?.id));
  }

  isBrokenBy(sceneIds: readonly string[]): boolean {
    return this.#broken.some(({ evidence: [decisive, ...others] }) => {
      if (decisive === undefined || !sceneIds.includes(decisive.sentBy)) return false;
      // A key is banned for the rows of bans alone: what else a banned key shows does not come without them.
      return !others.some((one) => one.intent === 'ban' && one.sentBy !== decisive.sentBy);
    });
  }

  get #shown() {
    return this.#broken.slice(0, VIOLATIONS_SHOWN);
  }

  /** The decisive exchanges of the violations that are shown. */
  get decisive(): readonly (Exchange | undefined)[] {
    return this.#shown.map(({ evidence: [first] }) => first);
  }

  /** Runs a judgement; what it throws as inconclusive is said here too. */
  guard(judge: () => void): void {
    const why = concluded(judge);
    if (why instanceof Inconclusive) this.inconclusive(why.reason, ...why.evidence);
  }

  /** @param trusted which exchanges count; what rests on another one was not seen */
  weigh(trusted: (exchange: Exchange) => boolean = () => true): Finding {
    const counts = ({ evidence }: { readonly evidence: readonly Exchange[] }) => evidence.every(trusted);
    const broken = this.#shown.filter(counts).toSorted((a, b) => effortOf(a) - effortOf(b));
    const [first] = broken;
    if (first !== undefined)
      return {
        verdict: 'fail',
        reasons: [{ kind: 'broken', times: this.#brokenCount }],
        violation: first.violation,
        evidence: [...new Set(broken.flatMap(({ evidence }) => evidence))],
      };
    return (
      this.#left('inconclusive') ??
      this.#left('skipped') ??
      this.#pass() ??
      this.#left('not-applicable') ?? {
        verdict: 'inconclusive',
        reasons: [{ kind: 'not-shown' }],
        evidence: [],
      }
    );
  }

  #left(verdict: ReturnType<typeof verdictBy>): Finding | undefined {
    const open = this.#open.filter(({ reason }) => verdictBy(reason) === verdict);
    const [first] = open;
    return first && { verdict, reasons: open.map(({ reason }) => reason), evidence: first.evidence };
  }

  #pass(): Finding | undefined {
    const [times, evidence] = [this.#heldCount, this.#held];
    return times === 0 ? undefined : { verdict: 'pass', reasons: [{ kind: 'held', times }], evidence };
  }
}

/** What a reason makes of a requirement of which nothing else is known. */
function verdictBy({ kind }: Reason): 'inconclusive' | 'skipped' | 'not-applicable' {
  if (kind === 'not-permitted' || kind === 'no-key') return 'skipped';
  return kind === 'unbound' ? 'not-applicable' : 'inconclusive';
}
