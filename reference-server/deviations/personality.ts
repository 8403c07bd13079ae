import type { ApiKey, IssuedKey } from '../api-keys.ts';
import type { BanPolicy } from '../ban-list.ts';
import type { Behaviour } from '../behaviour.ts';
import type { Clock } from '../clock.ts';
import type { Parts } from '../conforming.ts';
import type { IdSource, PetStore } from '../pet-store.ts';
import type { PlanLimits } from '../plans.ts';
import type { MeterKind } from './meters.ts';

/** What the parts of a server are made from. */
export interface Recipe {
  /** Path of the base address. */
  readonly basePath: string;
  readonly clock: Clock;
  readonly keys: readonly IssuedKey[];
  readonly limitsOf: (key: ApiKey) => PlanLimits;
  /** The account that pays for a key. */
  readonly accountOf: (key: ApiKey) => string;
  readonly minuteMeter: MeterKind;
  readonly dayMeter: MeterKind;
  /** Which window the rate headers describe. */
  readonly describes: 'binding' | 'day';
  readonly ban: BanPolicy;
  /** Makes the ids of added animals. */
  readonly nextId: IdSource;
  readonly seed: (store: PetStore, animals: number) => void;
}

/**
 * A way in which a server differs from the conforming one of `conforming.ts`: other ingredients, other decisions, or
 * both. Each function is called once for every server, so that what it remembers is that server's own.
 */
export interface Personality {
  readonly recipe?: (usual: Recipe) => Partial<Recipe>;
  readonly behaviour?: (usual: Behaviour, parts: Parts, recipe: Recipe) => Partial<Behaviour>;
}
