import type { TestRun } from '../test-run.ts';

const COLOURS = { pass: 'brightgreen', fail: 'red', inconclusive: 'yellow' } as const;

/**
 * A badge for a README, in the format of the endpoint badge of shields.io, which refuses other fields.
 *
 * @see https://shields.io/badges/endpoint-badge
 */
export function renderBadge({ name, headline, short = headline, verdict }: TestRun): string {
  const badge = {
    schemaVersion: 1,
    label: name,
    message: short,
    color: COLOURS[verdict],
    // With this, `?color=` in an address cannot make a failure green.
    isError: verdict !== 'pass',
  };
  return `${JSON.stringify(badge, null, 2)}\n`;
}
