/** A reason may name the row that explains its own: `no exact count was had (see rate-minute-free)`. */
const CAUSE = / \(see ([a-z0-9-]+)\)/g;

/** The ids of the rows that a reason names. */
export const causesIn = (reason: string): readonly string[] =>
  [...reason.matchAll(CAUSE)].map(([, id = '']) => id);

/** The reason with those of its causes alone that explain it. */
export const withCauses = (reason: string, explains: (id: string) => boolean): string =>
  reason.replace(CAUSE, (named, id: string) => (explains(id) ? named : ''));
