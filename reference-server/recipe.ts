import { type ApiKey, type IssuedKey, KeyRing } from './api-keys.ts';
import { BanList, type BanPolicy } from './ban-list.ts';
import { type Clock, systemClock } from './clock.ts';
import { ascendingIds, type IdSource, PetStore } from './pet-store.ts';
import { DOCUMENTED_PLANS, type PlanLimits } from './plans.ts';
import { RateLimiter } from './rate-limiter.ts';
import { type MeterKind, WindowFromFirstRequest } from './rate-meter.ts';
import { BASE_PATH } from './routing.ts';
import { FIRST_ID_BEYOND_DOUBLES, seedWithMixedIds } from './seed.ts';

/** The ingredients that the parts of a server are made from. */
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
  readonly ban: BanPolicy;
  /** Makes the ids of added animals. */
  readonly nextId: IdSource;
  readonly seed: (store: PetStore, animals: number) => void;
}

/** The parts of a server; every server has its own. */
export interface Parts {
  readonly clock: Clock;
  readonly keys: KeyRing;
  readonly store: PetStore;
  readonly limiter: RateLimiter;
  readonly bans: BanList;
}

/** The user's choices about the service; everything but the keys has a default. */
export interface ServiceOptions {
  /** Default: the system's clock at `clockSpeed`. */
  readonly clock?: Clock;
  /** From 1, the default, to 100,000; ignored if `clock` is given. */
  readonly clockSpeed?: number;
  /** Number of animals in the store at the start; default 120. */
  readonly animals?: number;
  readonly keys: readonly IssuedKey[];
  /** The plan that the document leaves custom; default 5,000 a minute and 1,000,000 a day. */
  readonly enterprise?: PlanLimits;
  /** Default 10 requests after the first 429, and 60 seconds. */
  readonly ban?: Partial<BanPolicy>;
}

/** The recipe of the server that the document describes. */
export function documentedRecipe(options: ServiceOptions): Recipe {
  const plans = { ...DOCUMENTED_PLANS, enterprise: options.enterprise ?? DOCUMENTED_PLANS.enterprise };
  return {
    basePath: BASE_PATH,
    clock: options.clock ?? systemClock(options.clockSpeed),
    keys: options.keys,
    limitsOf: (key) => plans[key.plan],
    accountOf: (key) => key.name,
    minuteMeter: (limit, windowMs) => new WindowFromFirstRequest(limit, windowMs),
    dayMeter: (limit, windowMs) => new WindowFromFirstRequest(limit, windowMs),
    ban: { threshold: 10, seconds: 60, ...options.ban },
    nextId: ascendingIds(FIRST_ID_BEYOND_DOUBLES),
    seed: seedWithMixedIds,
  };
}

/** Makes the parts of one server, with this number of animals in its store. */
export function partsOf(recipe: Recipe, animals = 120): Parts {
  const store = new PetStore(recipe.nextId);
  recipe.seed(store, animals);
  return {
    clock: recipe.clock,
    keys: new KeyRing(recipe.keys),
    store,
    limiter: new RateLimiter(recipe),
    bans: new BanList(recipe.ban),
  };
}
