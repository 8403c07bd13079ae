import { createHash } from 'node:crypto';
import type { Permission } from '../../spec/permissions.ts';
import type { Key } from '../profile/key.ts';

/** What is fixed for a run before it begins. */
export interface RunFacts {
  readonly id: string;
  /** Base address of the target, with the version segment. */
  readonly baseUrl: string;
  /** Keys of the profile that are no load keys. */
  readonly keys: readonly Key[];
  readonly permissions: ReadonlySet<Permission>;
  /** The categoryId that the profile knows to exist. */
  readonly sampleCategoryId: bigint | undefined;
  /** Ids of our readings that the profile declines: what is seen of them fails nothing. */
  readonly declined: ReadonlySet<string>;
  /** How many of the run's seconds pass in a real one. */
  readonly clockSpeed: number;
}

/** Draws a whole number below `bound`, the same whenever this run is resumed. */
export function drawNumber({ id }: Pick<RunFacts, 'id'>, label: string, bound: bigint): bigint {
  const digest = createHash('sha256').update(`${id} ${label}`).digest('hex');
  return BigInt(`0x${digest.slice(0, 32)}`) % bound;
}
