import type { Behaviour } from '../behaviour.ts';
import type { Parts, Recipe } from '../recipe.ts';
import type { ServerOptions } from '../server.ts';

/**
 * A way in which a server differs from the conforming one: other ingredients, other decisions, or both. Each function
 * is called once per server, so that each server has its own state.
 */
export interface Personality {
  readonly recipe?: (usual: Recipe) => Partial<Recipe>;
  readonly behaviour?: (usual: Behaviour, parts: Parts, recipe: Recipe) => Partial<Behaviour>;
}

/** Stacks several personalities into options for `startServer`. */
export function together(
  ...personalities: readonly Personality[]
): Required<Pick<ServerOptions, 'recipe' | 'behaviour'>> {
  return {
    recipe(usual) {
      let recipe = usual;
      for (const personality of personalities) recipe = { ...recipe, ...personality.recipe?.(recipe) };
      return recipe;
    },
    behaviour(usual, parts, recipe) {
      let behaviour = usual;
      for (const personality of personalities)
        behaviour = { ...behaviour, ...personality.behaviour?.(behaviour, parts, recipe) };
      return behaviour;
    },
  };
}
