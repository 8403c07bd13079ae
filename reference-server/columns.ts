/** Lists that the garbage collector does not look into: a million entries cost no request anything. */

/** A list of whole numbers from 0 to 2^32 - 1. */
export class NumberColumn {
  #values = new Uint32Array(16);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(value: number): void {
    if (this.#length === this.#values.length) {
      const larger = new Uint32Array(2 * this.#length);
      larger.set(this.#values);
      this.#values = larger;
    }
    this.#values[this.#length] = value;
    this.#length += 1;
  }

  at(index: number): number | undefined {
    return index < this.#length ? this.#values[index] : undefined;
  }
}

/** Two bytes keep every character of a string, a lone surrogate too. */
const ENCODING = 'utf16le';

/** A list of texts. */
export class TextColumn {
  #bytes = Buffer.alloc(1024);
  /** Where each text ends. */
  readonly #ends = new NumberColumn();

  push(text: string): void {
    const start = this.#startOf(this.#ends.length);
    const end = start + 2 * text.length;
    if (end > this.#bytes.length) {
      const larger = Buffer.alloc(2 * end);
      this.#bytes.copy(larger);
      this.#bytes = larger;
    }
    this.#bytes.write(text, start, ENCODING);
    this.#ends.push(end);
  }

  at(index: number): string | undefined {
    const end = this.#ends.at(index);
    return end === undefined ? undefined : this.#bytes.toString(ENCODING, this.#startOf(index), end);
  }

  #startOf(index: number): number {
    return this.#ends.at(index - 1) ?? 0;
  }
}
