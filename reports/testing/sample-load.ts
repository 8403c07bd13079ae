/** Results of real runs, stored beside the scenarios (`npm run store:load`), with something of everything. */
import { fileURLToPath } from 'node:url';
import { type CapacityResult, readCapacity } from '../../scenarios/runner/capacity/result.ts';
import { type LoadResult, readLoadResult } from '../../scenarios/runner/result/load-result.ts';

const stored = fileURLToPath(new URL('../../scenarios/testing', import.meta.url));

/** A load that broke its objective, and the contract; `hostile` stands wherever a target or a user chooses the text. */
export function loadResult(hostile?: string): LoadResult {
  const result = readLoadResult(stored);
  const text = (usual: string) => hostile ?? usual;
  return {
    ...result,
    run: { ...result.run, scenario: text(result.run.scenario), target: text(result.run.target) },
    notes: result.notes.map(text),
    thresholds: result.thresholds.map((one) => ({ ...one, actual: text(one.actual) })),
    violations: [
      {
        requirement: 'rate-headers-on-200',
        reported: 3,
        example: {
          requirement: 'rate-headers-on-200',
          detail: text('X-RateLimit-Reset is missing'),
          operation: 'listPets',
          method: 'GET',
          path: text('/pets?limit=20'),
          key: 'business-load',
          status: 200,
          headers: { 'Content-Type': 'application/json', 'X-Hostile': text('') },
          body: text('[]'),
        },
      },
    ],
  };
}

/** A search that found a capacity. */
export function capacityResult(hostile?: string): CapacityResult {
  const result = readCapacity(stored);
  const { run, steps } = result;
  if (hostile === undefined) return result;
  return {
    ...result,
    run: { ...run, target: hostile, slo: hostile },
    reason: hostile,
    steps: steps.map((step) => ({ ...step, reason: hostile })),
  };
}
