/** What k6 has of `console` and the scripts use; @types/k6 leaves it to the DOM's types. */
declare const console: { log(line: string): void };

// spec/contract.ts reads files. The bundle has what it read instead (build/bundle.ts).
declare module 'node:fs' {
  export function readFileSync(file: URL, encoding: 'utf8'): string;
}
declare class URL {
  constructor(path: string, base: string | URL);
}
