import type { TestRun } from '../test-run.ts';

const COLOURS = { held: 'brightgreen', broken: 'red', open: 'yellow' } as const;

/**
 * A badge for a README: the verdict and the numbers that matter, as the endpoint badge of shields.io takes them. Other
 * fields are refused there.
 *
 * @see https://shields.io/badges/endpoint-badge
 */
export function renderBadge({ name, short, verdict }: TestRun): string {
  const badge = {
    schemaVersion: 1,
    label: name,
    message: short,
    color: COLOURS[verdict],
    // Keeps a reader's `?color=` from painting a failure green.
    isError: verdict !== 'held',
  };
  return `${JSON.stringify(badge, null, 2)}\n`;
}
