import {
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseAllDocuments,
  visit,
} from 'yaml';
import { printable } from './suggestion.ts';

/** One thing wrong with a file: where, what, and what to do about it. */
export interface FileProblem {
  /** From 1 on. */
  readonly line: number;
  /** From 1 on. */
  readonly column: number;
  readonly message: string;
  readonly remedy: string;
}

/** Where a value stands in the file, and where its name does. */
interface Place {
  readonly node: unknown;
  readonly value: number;
  readonly name: number;
}

const INT64_MAX = 2n ** 63n - 1n;

/** A YAML file as plain values, each with its place, and what is wrong with it. */
export class YamlFile {
  readonly problems: FileProblem[] = [];
  /** Undefined where the text is no readable YAML, or empty. A field without a value is there and undefined. */
  readonly value: unknown;
  readonly #lines = new LineCounter();
  readonly #places = new Map<string, Place>();

  constructor(text: string) {
    const [document, next] = parseAllDocuments(text, {
      lineCounter: this.#lines,
      prettyErrors: false,
      intAsBigInt: true,
      merge: false,
    });
    if (document === undefined || !('contents' in document)) return;
    for (const { pos, message } of document.errors)
      this.#reportAt(pos[0], `not YAML: ${printable(message)}`, 'correct the syntax here');
    if (next !== undefined)
      this.#reportAt(next.range[0], 'holds more than one document', 'remove everything from "---" on');
    if (this.problems.length === 0) this.#refuseIndirection(document.contents);
    if (this.problems.length === 0) this.value = this.#valueOf(document.contents, '') ?? undefined;
  }

  /**
   * @param path names and indices from the root on, as a JSON pointer has them, but without its escapes
   * @param part whether it is about the value or its name; an item of a list has no name
   */
  report(path: string, part: 'value' | 'name', message: string, remedy: string): void {
    this.#reportAt(this.#places.get(path)?.[part] ?? 0, message, remedy);
  }

  /** The integer at a path with every digit; undefined where there is none. */
  integerAt(path: string): bigint | undefined {
    const node = this.#places.get(path)?.node;
    const value = isScalar(node) ? node.value : undefined;
    return typeof value === 'bigint' || typeof value === 'number' ? BigInt(value) : undefined;
  }

  /** The line of a value, from 1 on. */
  lineOf(path: string): number {
    return this.#lines.linePos(this.#places.get(path)?.value ?? 0).line;
  }

  #reportAt(offset: number, message: string, remedy: string): void {
    const { line, col } = this.#lines.linePos(offset);
    this.problems.push({ line: Math.max(1, line), column: Math.max(1, col), message, remedy });
  }

  /** What a few bytes of YAML can expand to a thousandfold, or turn into something else than they look like. */
  #refuseIndirection(contents: Node | null): void {
    const refuse = (node: Node, message: string, remedy: string) =>
      this.#reportAt(node.range?.[0] ?? 0, message, remedy);
    visit(contents, {
      Node: (_key, node) => {
        if (isAlias(node)) refuse(node, 'aliases (*name) are not allowed', 'write the value out');
        else if (node.anchor !== undefined)
          refuse(
            node,
            'anchors (&name) are not allowed',
            'remove it, and write the value out where it is used',
          );
        else if (node.tag !== undefined) refuse(node, 'tags (!name) are not allowed', 'remove the tag');
      },
    });
  }

  #valueOf(node: unknown, path: string, name?: number): unknown {
    const value = (isNode(node) ? node.range?.[0] : undefined) ?? 0;
    this.#places.set(path, { node, value, name: name ?? value });
    if (isSeq(node)) return node.items.map((item, index) => this.#valueOf(item, `${path}/${index}`));
    if (isMap(node)) return Object.fromEntries(node.items.flatMap((pair) => this.#fieldOf(pair, path)));
    if (!isScalar(node)) return null;
    if (typeof node.value !== 'bigint') return node.value;
    // A rounded number must not look like one within the bounds of int64.
    const beyond = node.value > INT64_MAX || node.value < -INT64_MAX - 1n;
    return Number(node.value) * (beyond ? Number.POSITIVE_INFINITY : 1);
  }

  #fieldOf({ key, value }: Pair, path: string): [name: string, value: unknown][] {
    const name = (isNode(key) ? key.range?.[0] : undefined) ?? 0;
    if (isScalar(key) && typeof key.value === 'string')
      return [[key.value, this.#valueOf(value, `${path}/${key.value}`, name) ?? undefined]];
    this.#reportAt(name, 'a field name must be text', 'use a word as its name');
    return [];
  }
}
