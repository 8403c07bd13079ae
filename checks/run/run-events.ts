import type { Exchange } from '../wire/exchange.ts';
import type { Finding } from './findings.ts';

/** What happens in a run, for whoever shows it live. */
export type RunEvent =
  | ({ readonly kind: 'check-ended'; readonly id: string } & Finding)
  | { readonly kind: 'exchange'; readonly exchange: Exchange }
  /** Times are the run's clock's, in milliseconds since 1970. */
  | { readonly kind: 'waiting'; readonly until: number; readonly for: string }
  | { readonly kind: 'waited'; readonly for: string };
