/** The TAP adapter: a check is a subtest of tap's own library, so that every TAP consumer reads a run. */
import { Minimal } from '@tapjs/core';
import type { RequirementVerdict } from './run/verdict.ts';

/** What TAP says of a requirement. */
export interface TapRequirement {
  readonly id: string;
  readonly section: string;
  readonly level: 'MUST' | 'MAY';
  readonly title: string;
  readonly statement: string;
  readonly verdict: RequirementVerdict;
  readonly reason: string;
  readonly expected?: string;
  readonly actual?: string;
  readonly curl?: string;
  /** A known failure, or explained by one: it does not gate. */
  readonly baselined?: boolean;
  /** Skipped although it was to be verified. */
  readonly required?: boolean;
}

/** A pinned answer to a gap that the target no longer gives. */
export interface TapDrift {
  readonly id: string;
  readonly pinned: string;
  readonly observed: string;
  readonly detail: string;
}

export interface TapRun {
  readonly requirements: readonly TapRequirement[];
  readonly drifts: readonly TapDrift[];
  /** Why the run is not green although every requirement may be: it was cut short, a baseline entry is stale. */
  readonly problems: readonly string[];
}

/** No call site: a verdict comes from an exchange, not from a line of code. Made anew, for tap takes it apart. */
const noPlace = () => ({ at: null, stack: '' });
/** What a subtest says it says itself; the point that sums it up repeats nothing. */
const summedUp = () => ({ ...noPlace(), diagnostic: false });

/**
 * A run as TAP 14: a subtest per requirement. A MUST that could not be verified is `not ok`, for a skip reads as green.
 * What was not asked for, or does not bind the target, is skipped with the reason.
 */
export async function conformanceTap({ requirements, drifts, problems }: TapRun): Promise<string> {
  const root = new Minimal({ name: 'petstore-harness' });
  root.plan(requirements.length + drifts.length + problems.length);
  for (const row of requirements) addRequirement(root, row);
  for (const { id, pinned, observed, detail } of drifts) {
    root.test(`gap ${id}`, summedUp(), async (t) => {
      t.fail(`this target used to answer ${pinned}`, {
        ...noPlace(),
        diagnostic: true,
        expected: pinned,
        actual: observed,
        detail,
      });
    });
  }
  for (const problem of problems) root.fail(`run: ${problem}`, noPlace());
  return root.concat();
}

/** A run that had nothing to judge, as TAP: nothing was tested, which must not read as green. */
export function bailedOut(reason: string): string {
  return `TAP version 14\nBail out! ${reason}\n`;
}

function addRequirement(root: Minimal, row: TapRequirement): void {
  const { id, section, level, title, statement, verdict, reason, baselined, required } = row;
  const name = `${id} (${section}) ${title}`;
  switch (verdict) {
    case 'pass':
      root.test(name, async (t) => void t.pass(statement));
      return;
    case 'skipped':
    case 'not-applicable':
      root.test(name, { skip: reason }, async () => {});
      return;
    case 'inconclusive': {
      const why = `not verified: ${reason}`;
      if (baselined === true) root.fail(name, { ...noPlace(), todo: `known failure: ${reason}` });
      else if (level === 'MAY' && required !== true) root.test(name, { skip: why }, async () => {});
      else failing(root, name, why, { asks: statement });
      return;
    }
    case 'fail': {
      const { expected, actual, curl } = row;
      const diagnostic = { asks: statement, expected, actual, ...(curl === undefined ? {} : { curl }) };
      if (baselined !== true) failing(root, name, reason, diagnostic);
      // A subtest that is to do is not run: a point of its own keeps the diagnostic.
      else
        root.fail(name, {
          ...noPlace(),
          ...diagnostic,
          diagnostic: true,
          todo: 'known failure, listed in the baseline',
        });
    }
  }
}

function failing(
  root: Minimal,
  name: string,
  reason: string,
  diagnostic: Readonly<Record<string, unknown>>,
): void {
  root.test(
    name,
    summedUp(),
    async (t) => void t.fail(reason, { ...noPlace(), ...diagnostic, diagnostic: true }),
  );
}
