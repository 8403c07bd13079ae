import { demoKeys, type IssuedKey, type KeyFinder, keyFinder } from './api-keys.ts';
import { type Clock, systemClock } from './clock.ts';
import { ascendingIds, type IdSource, PetStore } from './pet-store.ts';
import { DOCUMENTED_PLANS, type PlanLimits } from './plans.ts';
import { type LimiterPolicy, RateLimiter, windowFromFirst } from './rate-limiter.ts';
import { FIRST_ID_BEYOND_DOUBLES, seedWithMixedIds } from './seed.ts';

/** The ingredients that the parts of a server are made from. */
export interface Recipe extends LimiterPolicy {
  /** Path of the base address. */
  readonly basePath: string;
  readonly clock: Clock;
  readonly keys: readonly IssuedKey[];
  /** How many requests after a 429, with none admitted in between, lead to a ban; and how long it lasts. */
  readonly ban: { readonly threshold: number; readonly seconds: number };
  /** Makes the ids of added animals. */
  readonly nextId: IdSource;
  readonly seed: (store: PetStore, animals: number) => void;
}

/** The parts of a server; every server has its own. */
export interface Parts {
  readonly clock: Clock;
  readonly findKey: KeyFinder;
  readonly store: PetStore;
  readonly limiter: RateLimiter;
}

/** The user's choices about the service; everything has a default. */
export interface ServiceOptions {
  /** Default: the system's clock at `clockSpeed`. */
  readonly clock?: Clock;
  /** From 1, the default, to 100,000; ignored if `clock` is given. */
  readonly clockSpeed?: number;
  /** Number of animals in the store at the start; default 120. */
  readonly animals?: number;
  /** Default: the demo keys, with new values in every run. */
  readonly keys?: readonly IssuedKey[];
  /** The plan that the document leaves custom; default 5,000 a minute and 1,000,000 a day. */
  readonly enterprise?: PlanLimits;
  /** Default 10 requests after the first 429, and 60 seconds. */
  readonly ban?: Partial<Recipe['ban']>;
}

/** The recipe of the server that the document describes. */
export function documentedRecipe(options: ServiceOptions): Recipe {
  const { clockSpeed, clock = systemClock(clockSpeed), keys = demoKeys() } = options;
  const { enterprise = DOCUMENTED_PLANS.enterprise } = options;
  return {
    // Section 9: the version is part of the base address.
    basePath: '/v1',
    clock,
    keys,
    limitsOf: ({ plan }) => (plan === 'enterprise' ? enterprise : DOCUMENTED_PLANS[plan]),
    accountOf: (key) => key.name,
    minuteMeter: windowFromFirst,
    dayMeter: windowFromFirst,
    ban: { threshold: 10, seconds: 60, ...options.ban },
    nextId: ascendingIds(FIRST_ID_BEYOND_DOUBLES),
    seed: seedWithMixedIds,
  };
}

/** Makes the parts of one server, with this number of animals in its store. */
export function partsOf(recipe: Recipe, animals = 120): Parts {
  const store = new PetStore(recipe.nextId);
  recipe.seed(store, animals);
  return { clock: recipe.clock, findKey: keyFinder(recipe.keys), store, limiter: new RateLimiter(recipe) };
}
