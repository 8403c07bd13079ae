import type { TestRun } from '../test-run.ts';

/** The endpoint badge of shields.io, https://shields.io/badges/endpoint-badge; other fields are refused there. */
interface EndpointBadge {
  readonly schemaVersion: 1;
  readonly label: string;
  readonly message: string;
  readonly color: 'brightgreen' | 'red' | 'yellow';
  /** Keeps a reader's `?color=` from painting a failure green. */
  readonly isError: boolean;
}

/** A badge for a README: the verdict and the numbers that matter. */
export function renderBadge({ name, short, verdict }: TestRun): string {
  const color = ({ held: 'brightgreen', broken: 'red', open: 'yellow' } as const)[verdict];
  const badge: EndpointBadge = {
    schemaVersion: 1,
    label: name,
    message: short,
    color,
    isError: verdict !== 'held',
  };
  return `${JSON.stringify(badge, null, 2)}\n`;
}
