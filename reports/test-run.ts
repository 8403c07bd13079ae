/** A run as test cases, the common ground of a check and a load: what pipelines know. Every text is safe to escape and show. */
import type { Fact } from './facts.ts';

/**
 * `unknown` was asked for and could not be judged. `known` is a failure that the baseline lists. `noted` was seen, but
 * was not to be judged.
 */
export type Standing = 'passed' | 'failed' | 'unknown' | 'known' | 'skipped' | 'noted';

/** A test case, as other programs know it. */
export interface TestCase {
  /** Stable from run to run. */
  readonly id: string;
  readonly suite: string;
  readonly classname: string;
  /** Title with id, for a list; stable too. */
  readonly name: string;
  readonly title: string;
  readonly standing: Standing;
  /** The type of failure that it is or would be. */
  readonly kind: string;
  /** One line: why it has this standing. */
  readonly reason: string;
  /** How long the exchanges took that decided it. */
  readonly seconds?: number;
  /** What a reader needs to act on it, by name; an undefined fact is left out. */
  readonly facts: Readonly<Record<string, string | undefined>>;
  readonly rule?: {
    readonly section: string;
    readonly level: string;
    readonly statement: string;
    readonly clause?: string | undefined;
    readonly reading?: string | undefined;
  };
  /** The id of the case that explains this one. */
  readonly consequenceOf?: string;
}

/** A run as test cases. It may be a check or a load. */
export interface TestRun {
  readonly name: string;
  readonly headline: string;
  /** The headline in a few words. */
  readonly short: string;
  readonly verdict: 'held' | 'broken' | 'open';
  /** What made the verdict in addition to the cases, a line each. */
  readonly problems: readonly string[];
  readonly cases: readonly TestCase[];
  readonly facts: readonly Fact[];
  readonly run: {
    readonly startedAt: string;
    readonly durationSeconds: number;
    readonly harnessVersion: string;
    readonly target: string;
    readonly command?: string;
    /** A file of the repository to which findings can point. */
    readonly profile?: string;
  };
}

/** What is written before a fact. */
const LABELS: Readonly<Record<string, string>> = {
  says: 'The document: ',
  reading: 'Our reading: ',
  asks: 'What is asked: ',
  expected: 'Of this exchange: ',
  actual: 'What came back: ',
  curl: 'Repeat it with: ',
  evidence: 'Exchanges in report.json: ',
  pinned: 'Pinned: ',
  observed: 'Observed: ',
};

/** A case's facts as lines for a reader, without the verdict. */
export function factLines({ facts }: Pick<TestCase, 'facts'>): string[] {
  return Object.entries(facts).flatMap(([name, text]) =>
    text === undefined || name === 'verdict' ? [] : [`${LABELS[name] ?? '\n'}${text}`],
  );
}

/** The suite of the run itself, for formats that have only suites of cases. */
export const RUN_SUITE = 'The run';

/** The run itself as a case, for formats that consist of cases: never green if the run is not. */
export const runItself = ({ headline, problems }: TestRun): TestCase => ({
  id: 'run',
  suite: RUN_SUITE,
  classname: 'petstore-harness.run',
  name: 'the run as a whole',
  title: 'the run as a whole',
  standing: problems.length === 0 ? 'passed' : 'unknown',
  kind: 'run',
  reason: [headline, ...problems.filter((problem) => !headline.includes(problem))].join('; '),
  facts: {},
});
