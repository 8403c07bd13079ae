import { outcome } from './outcome.ts';
import type { Report } from './report.ts';

/** The endpoint badge of shields.io, https://shields.io/badges/endpoint-badge; other fields are refused there. */
export interface EndpointBadge {
  readonly schemaVersion: 1;
  readonly label: string;
  readonly message: string;
  readonly color: 'brightgreen' | 'red' | 'yellow';
  /** Keeps a reader's `?color=` from painting a failure green. */
  readonly isError: boolean;
}

/** A badge for a README: the verdict and the one number that matters. */
export function renderBadge(report: Report): string {
  const { broken, drifted, notVerified, passed } = outcome(report);
  const badge: EndpointBadge = {
    schemaVersion: 1,
    label: 'Pet Store interface',
    ...(report.verdict === 'conformant'
      ? { message: `conformant (${passed.length} verified)`, color: 'brightgreen', isError: false }
      : report.verdict === 'not-conformant'
        ? { message: brokenMessage(broken.length, drifted.length), color: 'red', isError: true }
        : { message: `inconclusive (${notVerified.length} not verified)`, color: 'yellow', isError: true }),
  };
  return badgeFile(badge);
}

/** The endpoint's answer. */
export function badgeFile(badge: EndpointBadge): string {
  return `${JSON.stringify(badge, null, 2)}\n`;
}

function brokenMessage(broken: number, drifted: number): string {
  const parts = [...(broken > 0 ? [`${broken} broken`] : []), ...(drifted > 0 ? [`${drifted} drifted`] : [])];
  return parts.join(', ') || 'not conformant';
}
