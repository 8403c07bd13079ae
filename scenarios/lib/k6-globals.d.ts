/** What k6 has of `console` and the scripts use; @types/k6 leaves it to the DOM's types. */
declare const console: { log(line: string): void };
