/** A run as test cases, the common ground of a check and a load: what pipelines know. Every text is safe to escape and show. */
import { type Facts, toldFacts } from './facts.ts';
import type { RunFacts } from './report.ts';
import type { RowKind } from './rows.ts';

/** What became of a case. `noted` was seen, but was not to be judged. */
export type Standing = RowKind | 'noted';

/** A test case, as other programs know it. */
export interface TestCase {
  /** Stable from run to run. */
  readonly id: string;
  readonly suite: string;
  /** Title with id, for a list; stable too. */
  readonly name: string;
  readonly standing: Standing;
  /** One line: why it has this standing. */
  readonly reason: string;
  /** How long the exchange took that decided it. */
  readonly seconds?: number;
  /** What it is about in every run, and what a reader needs to act on it. */
  readonly about?: Facts;
  readonly facts: Facts;
  readonly tags?: readonly string[];
  /** The id of the case that explains this one. */
  readonly consequenceOf?: string;
}

/** A run as test cases. It may be a check or a load. */
export interface TestRun {
  readonly name: string;
  readonly headline: string;
  /** The headline in a few words, where it has more. */
  readonly short?: string;
  /** The kind of row whose colour and sign the whole run has. */
  readonly verdict: 'pass' | 'fail' | 'inconclusive';
  /** What made the verdict in addition to the cases, a line each. */
  readonly problems: readonly string[];
  readonly cases: readonly TestCase[];
  readonly facts: Facts;
  readonly run: Pick<RunFacts, 'startedAt' | 'durationSeconds' | 'harnessVersion'> &
    Partial<Pick<RunFacts, 'command' | 'profile'>>;
}

/** Facts as lines for a reader. */
export const factLines = (facts: Facts): string[] =>
  toldFacts(facts).map(([label, text]) => (text.includes('\n') ? `\n${text}` : `${label}: ${text}`));

/** The suite of the run itself, for formats that have only suites of cases. */
export const RUN_SUITE = 'The run';

/** The run itself as a case, for formats that consist of cases: never green if the run is not. */
export const runItself = ({ headline, problems }: TestRun): TestCase => ({
  id: 'run',
  suite: RUN_SUITE,
  name: 'the run as a whole',
  standing: problems.length === 0 ? 'pass' : 'inconclusive',
  reason: [headline, ...problems.filter((problem) => !headline.includes(problem))].join('; '),
  facts: {},
});
