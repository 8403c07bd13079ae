import {
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseAllDocuments,
  visit,
} from 'yaml';

/** One thing wrong with a file: where, what, and what to do about it. */
export interface FileProblem {
  /** From 1 on. */
  readonly line: number;
  /** From 1 on. */
  readonly column: number;
  readonly message: string;
  readonly remedy: string;
}

/** In bytes: larger files are others than were meant, and may take yaml minutes. */
export const LARGEST_YAML = 2 ** 16;
/** So many lists within each other on one line take yaml longer than anybody waits. */
const TOO_DEEP = /^[ \t]*(?:[-?:][ \t]+){20}/m;

/** A YAML file as plain values, each with its place, and what is wrong with it. */
export class YamlFile {
  readonly problems: FileProblem[] = [];
  /** Undefined where the text is no readable YAML, or empty. A field without a value is not there. */
  readonly value: unknown;
  readonly #lines = new LineCounter();
  readonly #contents: Node | null = null;

  /** @param renamed what a field is called, by the field that it is in and the name that is written */
  constructor(text: string, renamed: (within: string, name: string) => string = (_, name) => name) {
    const deep = TOO_DEEP.exec(text);
    if (deep !== null) {
      this.#reportAt(deep.index, 'is nested too deep', 'is it the right file?');
      return;
    }
    const [document, next] = parseAllDocuments(text, {
      lineCounter: this.#lines,
      prettyErrors: false,
      merge: false,
    });
    if (document === undefined || !('contents' in document)) return;
    for (const { pos, message } of document.errors)
      this.#reportAt(pos[0], `not YAML: ${message}`, 'correct the syntax here');
    if (next !== undefined)
      this.#reportAt(next.range[0], 'holds more than one document', 'remove everything from "---" on');
    visit(document, {
      // A few bytes can expand to a thousandfold.
      Alias: (_, { range }) => this.#reportAt(range?.[0], 'aliases (*name) are not allowed', 'write it out'),
      Pair: (_, { key }, [, , outer]) => {
        if (!isScalar(key) || typeof key.value !== 'string')
          this.#reportAt(startOf(key), 'a field name must be text', 'use a word as its name');
        else if (isPair(outer)) key.value = renamed(String(outer.key), key.value);
      },
    });
    if (this.problems.length > 0) return;
    this.#contents = document.contents;
    const present = (_: unknown, value: unknown) => value ?? undefined;
    this.value = document.toJS({ reviver: present }) ?? undefined;
  }

  /**
   * @param path a JSON pointer
   * @param part whether it is about the value or its name; an item of a list has no name
   */
  report(path: string, part: 'value' | 'name', message: string, remedy: string): void {
    this.#reportAt(startOf(this.#find(path)[part]), message, remedy);
  }

  /** The integer at a path with every digit; undefined where there is none. */
  integerAt(path: string): bigint | undefined {
    const { value } = this.#find(path);
    if (!isScalar(value) || !Number.isInteger(value.value)) return undefined;
    const { source = '' } = value;
    return BigInt(/^[-+]?\d+$/.test(source) ? source : Number(value.value));
  }

  /** The line of a value, from 1 on. */
  lineOf(path: string): number {
    return this.#lines.linePos(startOf(this.#find(path).value) ?? 0).line;
  }

  /** The value at a path, and its name. */
  #find(path: string): { readonly name: unknown; readonly value: unknown } {
    let found: { name: unknown; value: unknown } = { name: this.#contents, value: this.#contents };
    for (const part of path.split('/').slice(1)) {
      const name = unescaped(part);
      const { value } = found;
      if (isSeq(value)) found = { name: value.items[Number(name)], value: value.items[Number(name)] };
      const pair = isMap(value)
        ? value.items.find(({ key }) => isScalar(key) && key.value === name)
        : undefined;
      if (pair !== undefined) found = { name: pair.key, value: pair.value };
    }
    return found;
  }

  #reportAt(offset: number | undefined, message: string, remedy: string): void {
    const { line, col } = this.#lines.linePos(offset ?? 0);
    this.problems.push({
      line: Math.max(1, line),
      column: Math.max(1, col),
      message: printable(message),
      remedy,
    });
  }
}

/** The text without characters that a terminal would obey. */
const printable = (text: string): string => text.replace(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu, '\uFFFD');

/** A name in a JSON pointer. */
export const unescaped = (name: string): string => name.replaceAll('~1', '/').replaceAll('~0', '~');

const startOf = (node: unknown): number | undefined => (isNode(node) ? node.range?.[0] : undefined);
