/**
 * Rules of one's own, as rows beside the document's: `petstore-harness/rules`. A profile names the file, as
 * `rules: [./our-rules.mjs]`, or `check({ rules })` takes them. They follow semantic versioning.
 */
import { dirname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { UsageError } from '../checks/profile/usage-error.ts';
import { type Check, check, type Judge, type Seen } from '../checks/run/check.ts';
import { Inconclusive } from '../checks/run/reason.ts';
import type { Scene } from '../checks/run/scene.ts';
import type { AnsweredExchange } from '../checks/wire/exchange.ts';
import { declareOwn, type Requirement } from '../spec/contract.ts';
import type { Permission } from '../spec/permissions.ts';

export { scene } from '../checks/run/scene.ts';
export { header } from '../checks/wire/exchange.ts';
export { bodyOf } from '../checks/wire/pets.ts';
export { addPet, getPet, listPets } from '../checks/wire/requests.ts';
export type { AnsweredExchange, Judge, Permission, Scene, Seen };

/**
 * What is asked of a target. A rule is a MUST unless its level is another: what cannot be told ends a run with 3. Without
 * its permission it is skipped.
 */
export type RuleOptions = Pick<Requirement, 'statement'> & Partial<Pick<Requirement, 'level' | 'permit'>>;

/** How a rule is judged: by each answer of the three operations, by what its scenes bring, or by both. */
export interface RuleParts {
  readonly observe?: (exchange: AnsweredExchange, judge: Judge) => void;
  readonly scenes?: readonly Scene<unknown>[];
  readonly judge?: (judge: Judge, seen: Seen) => void;
}

/** A row of one's own, and its check. */
export interface Rule {
  readonly row: Requirement;
  readonly check: Check;
}

/** What a rule throws is its own defect, never the target's. */
const defectOf = (id: string) => (error: unknown) => {
  if (error instanceof Inconclusive) throw error;
  const what = error instanceof Error ? error.message : String(error);
  throw new Error(`the rule ${id} threw: ${what}`, { cause: error });
};

/**
 * Defines a rule.
 *
 * @param id unique, such as `ours-request-id`
 * @example
 * ```js
 * export default [
 *   rule('ours-request-id', { statement: 'Every answer has X-Request-Id.' }, {
 *     observe(exchange, judge) {
 *       const id = header(exchange.outcome.headers, 'x-request-id');
 *       if (id === undefined) judge.breaks({ expected: 'X-Request-Id', actual: 'none' }, exchange);
 *       else judge.holds(exchange);
 *     },
 *   }),
 * ];
 * ```
 */
export function rule(
  id: string,
  { statement, level = 'MUST', permit }: RuleOptions,
  { observe, scenes = [], judge }: RuleParts,
): Rule {
  const defect = defectOf(id);
  const playable = (one: Scene<unknown>): Scene<unknown> => ({
    ...one,
    play: (run) => one.play(run).catch(defect),
  });
  const guarded =
    <A extends readonly unknown[]>(part: (...args: A) => void) =>
    (...args: A) => {
      try {
        part(...args);
      } catch (error) {
        defect(error);
      }
    };
  return {
    row: { id, formerly: [], section: 'own', level, title: statement, statement, clause: '', permit },
    check: check(
      id,
      { scenes: scenes.map(playable), permit, observe: observe && guarded(observe) },
      judge && guarded(judge),
    ),
  };
}

/** Makes rules known to reports. @returns their checks @throws UsageError for an id that is taken or none */
export function declared(rules: readonly Rule[]): readonly Check[] {
  for (const { row } of rules) {
    const problem = declareOwn(row);
    if (problem !== undefined) throw new UsageError(`the rule ${row.id} ${problem}`);
  }
  return rules.map((one) => one.check);
}

const RulesModule = Type.Object({
  default: Type.Array(Type.Unsafe<Rule>(Type.Object({ row: Type.Object({}), check: Type.Object({}) }))),
});

/**
 * The checks of the rules in the modules that a profile names.
 *
 * @param profile the profile's file, beside which they are
 * @throws UsageError for a module that exports no list of rules
 */
export async function rulesOf(names: readonly string[], profile = ''): Promise<readonly Check[]> {
  const rules: Rule[] = [];
  for (const name of names) {
    const file = resolve(dirname(profile), name);
    const module: unknown = await import(pathToFileURL(file).href).catch((error: unknown) => {
      throw new UsageError(`${file}: ${error instanceof Error ? error.message : String(error)}`);
    });
    if (!Value.Check(RulesModule, module))
      throw new UsageError(`${file}: its default export is no list of rules; write export default [rule(…)]`);
    rules.push(...module.default);
  }
  return declared(rules);
}
