import type { Behaviour } from '../behaviour.ts';
import type { Parts, Recipe } from '../recipe.ts';
import type { ServerOptions } from '../server.ts';

/** A way in which a server differs from the conforming one: other ingredients, other decisions, or both. */
export interface Personality {
  readonly recipe?: (usual: Recipe) => Partial<Recipe>;
  readonly behaviour?: (usual: Behaviour, parts: Parts, recipe: Recipe) => Partial<Behaviour>;
}

/** What differs; a function where it remembers something, or needs the server's parts: it is called once per server. */
export type Deviation = Personality | ((parts: Parts) => Personality);

/** Deviations by what they are about, then by name. */
export type DeviationTable = Readonly<
  Record<string, Readonly<Record<string, Deviation | readonly Deviation[]>>>
>;

/** Stacks several deviations into options for `startServer`. */
export function together(
  ...deviations: readonly Deviation[]
): Required<Pick<ServerOptions, 'recipe' | 'behaviour'>> {
  return {
    recipe(usual) {
      let recipe = usual;
      for (const deviation of deviations)
        if (typeof deviation !== 'function') recipe = { ...recipe, ...deviation.recipe?.(recipe) };
      return recipe;
    },
    behaviour(usual, parts, recipe) {
      let behaviour = usual;
      for (const deviation of deviations) {
        const personality = typeof deviation === 'function' ? deviation(parts) : deviation;
        behaviour = { ...behaviour, ...personality.behaviour?.(behaviour, parts, recipe) };
      }
      return behaviour;
    },
  };
}
