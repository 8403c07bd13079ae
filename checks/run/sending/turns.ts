/** Lets a few do something at the same time; who comes later waits for one of them to end. */
export class Turns {
  #underWay = 0;
  readonly #waiting: (() => void)[] = [];

  /** @param most how many at the same time, asked anew whenever one ends */
  async take<T>(most: () => number, work: () => Promise<T>): Promise<T> {
    while (this.#underWay >= most()) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#underWay += 1;
    try {
      return await work();
    } finally {
      this.#underWay -= 1;
      for (const wake of this.#waiting.splice(0)) wake();
    }
  }
}
