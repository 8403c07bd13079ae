import { shownLine } from '../../reports/visible-text.ts';

/** A target that is down makes k6 say the same of every request. */
const MOST_OF_A_KIND = 3;

/** What all lines of a kind have in common: not the request, nor the port that it came from. */
const kindOf = (line: string) => line.replace(/"[^"]*"/g, '"…"').replace(/\d+/g, '0');

/** Lines for whoever watches a load; of those that differ in the request only, the first few and how many came. */
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

  /** Says what was left out. */
  end(): void {
    const more = [...this.#seen.values()].reduce(
      (sum, times) => sum + Math.max(0, times - MOST_OF_A_KIND),
      0,
    );
    if (more > 0) this.#write(`… and ${more.toLocaleString('en')} more lines like this from k6`);
  }
}
