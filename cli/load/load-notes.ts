import { shownLine } from '../../reports/visible-text.ts';

/** If the target is down, k6 logs the same line for every request. */
const MOST_OF_A_KIND = 3;

/** A line without the request and the port, which differ between lines of one kind. */
const kindOf = (line: string) => line.replace(/"[^"]*"/g, '"…"').replace(/\d+/g, '0');

/** Lines for the user during a load: the first few of each kind, and the number of the others. */
export class LoadNotes {
  readonly #write: (line: string) => void;
  readonly #seen = new Map<string, number>();

  constructor(write: (line: string) => void) {
    this.#write = write;
  }

  add(line: string): void {
    const kind = kindOf(line);
    const times = (this.#seen.get(kind) ?? 0) + 1;
    this.#seen.set(kind, times);
    if (times <= MOST_OF_A_KIND) this.#write(shownLine(line, 500));
  }

  /** Writes how many lines were left out. */
  end(): void {
    const more = [...this.#seen.values()].reduce(
      (sum, times) => sum + Math.max(0, times - MOST_OF_A_KIND),
      0,
    );
    if (more > 0) this.#write(`… and ${more.toLocaleString('en')} more lines like this from k6`);
  }
}
