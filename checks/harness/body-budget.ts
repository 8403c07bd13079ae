const KIB = 1024;
const MIB = 1024 * KIB;

/** 20 kB for each animal of the longest list (section 8). */
const LARGEST_BODY = 2 * MIB;
/** Bodies up to here are always read: they are as many as the run's requests, and most of them are not kept. */
const ORDINARY = 64 * KIB;
/** What a run reads beyond the ordinary, all bodies together: exchanges are kept in memory until the run is judged. */
const ALLOWANCE = 24 * MIB;
/** The longest list has four fields for each of 100 animals; parsed, a value takes some fifty times its comma. */
const MOST_COMMAS = 100_000;
/** The same for all bodies beyond the ordinary together: each is parsed more than once. */
const COMMAS_ALLOWED = 300_000;

const COMMA = 0x2c;

/** Bounds what a run reads of its target's bodies, so that no target can take the machine's memory. */
export class BodyBudget {
  readonly #largest: number;
  #spent = 0;
  #commas = 0;

  /** @param largest bound on one body in bytes */
  constructor(largest = LARGEST_BODY) {
    this.#largest = largest;
  }

  /**
   * Takes a piece of a body into account.
   *
   * @param total bytes of the body with this piece
   * @returns why it is not read, in one line, or undefined
   */
  refuse(total: number, piece: number): string | undefined {
    if (total > this.#largest) return `the body is larger than ${this.#largest} bytes`;
    if (total <= ORDINARY) return undefined;
    if (this.#spent + piece > ALLOWANCE) {
      return `the body is larger than ${ORDINARY} bytes, and the run has read ${ALLOWANCE / MIB} MiB of such bodies`;
    }
    this.#spent += piece;
    return undefined;
  }

  /** How many bytes a body of `length` bytes on the wire may become when decompressed. */
  get mostDecoded(): number {
    return Math.min(this.#largest, ORDINARY + ALLOWANCE - this.#spent);
  }

  /** Why a decompressed body is not parsed, in one line, or undefined. */
  refuseDecoded(bytes: Uint8Array, lengthOnTheWire: number): string | undefined {
    if (bytes.length <= ORDINARY) return undefined;
    this.#spent += Math.max(0, bytes.length - lengthOnTheWire);
    const commas = commasIn(bytes);
    if (commas > MOST_COMMAS) return `the body holds more than ${MOST_COMMAS} values`;
    if (this.#commas + commas > COMMAS_ALLOWED) {
      return `the body is larger than ${ORDINARY} bytes, and the run has read ${COMMAS_ALLOWED} values in such bodies`;
    }
    this.#commas += commas;
    return undefined;
  }
}

function commasIn(bytes: Uint8Array): number {
  let commas = 0;
  for (let at = bytes.indexOf(COMMA); at !== -1; at = bytes.indexOf(COMMA, at + 1)) commas += 1;
  return commas;
}
