const KIB = 1024;
const MIB = 1024 * KIB;

/** 20 kB for each animal of the longest list (section 8). */
export const LARGEST_BODY = 2 * MIB;
/** Bodies up to here are always read: they are as many as the run's requests, and most of them are not kept. */
const ORDINARY = 64 * KIB;
/** What a run reads beyond the ordinary, all bodies together: exchanges are kept in memory until the run is judged. */
const ALLOWANCE = 24 * MIB;
/** The longest list has four fields for each of 100 animals; parsed, a value takes some fifty times its comma. */
const MOST_COMMAS = 100_000;
/** Objects in all bodies beyond the ordinary together, which checks keep as animals: the lists of a run have 10,000. */
const OBJECTS_ALLOWED = 40_000;

const COMMA = 0x2c;
const BRACE = 0x7b;

/** Bounds what a run reads of its target's bodies, so that no target can take the machine's memory. */
export class BodyBudget {
  #spent = 0;
  #objects = 0;

  /**
   * Takes a piece of a body into account.
   *
   * @param total bytes of the body with this piece
   * @returns why it is not read, in one line, or undefined
   */
  refuse(total: number, piece: number): string | undefined {
    if (total > LARGEST_BODY) return `the body is larger than ${LARGEST_BODY} bytes`;
    if (total <= ORDINARY) return undefined;
    if (this.#spent + piece > ALLOWANCE) {
      return `the body is larger than ${ORDINARY} bytes, and the run has read ${ALLOWANCE / MIB} MiB of such bodies`;
    }
    this.#spent += piece;
    return undefined;
  }

  /** How many bytes a body of `length` bytes on the wire may become when decompressed. */
  get mostDecoded(): number {
    return Math.min(LARGEST_BODY, ORDINARY + ALLOWANCE - this.#spent);
  }

  /** Why a decompressed body is not parsed, in one line, or undefined. */
  refuseDecoded(bytes: Uint8Array, lengthOnTheWire: number): string | undefined {
    if (bytes.length <= ORDINARY) return undefined;
    this.#spent += Math.max(0, bytes.length - lengthOnTheWire);
    if (count(bytes, COMMA) > MOST_COMMAS) return `the body holds more than ${MOST_COMMAS} values`;
    const objects = count(bytes, BRACE);
    if (this.#objects + objects > OBJECTS_ALLOWED) {
      return `the body is larger than ${ORDINARY} bytes, and the run has read ${this.#objects} objects in such bodies`;
    }
    this.#objects += objects;
    return undefined;
  }
}

function count(bytes: Uint8Array, byte: number): number {
  let found = 0;
  for (let at = bytes.indexOf(byte); at !== -1; at = bytes.indexOf(byte, at + 1)) found += 1;
  return found;
}
