import leven from 'leven';
import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseAllDocuments, visit } from 'yaml';

/** One thing wrong with a file: where, what, and what to do about it. */
export interface FileProblem {
  /** From 1 on. */
  readonly line: number;
  /** From 1 on. */
  readonly column: number;
  readonly message: string;
  readonly remedy: string;
}

/** A value of a YAML file, undefined where a field has none. */
export type YamlNode = Node | null | undefined;

/** A field of a mapping: its value, and the place of its name. */
export interface Field {
  readonly value: YamlNode;
  readonly offset: number;
}

const LONGEST_QUOTE = 40;

/** No name that is known is as long; of a longer one the rest is not compared. */
const LONGEST_NAME = 100;

/** Fewer letters begin too many names. */
const SHORTEST_BEGINNING = 4;

/** What a message repeats of a file: short, and nothing that a terminal would obey. */
export function quoted(text: string): string {
  const short = text.length > LONGEST_QUOTE ? `${text.slice(0, LONGEST_QUOTE)}…` : text;
  return `"${printable(short)}"`;
}

function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu, '\uFFFD');
}

/** `did you mean "…"?` for the known name that is nearest, where one is near or begins likewise; else the known names. */
export function suggestion(name: string, known: readonly string[]): string {
  const compared = name.slice(0, LONGEST_NAME);
  const byDistance = known
    .map((candidate) => ({
      candidate,
      steps: leven(compared.toLowerCase(), candidate.toLowerCase()),
    }))
    .sort((a, b) => a.steps - b.steps);
  const near =
    byDistance.find(({ steps }) => steps <= Math.max(2, compared.length / 3)) ??
    byDistance.find(({ candidate }) => name.length >= SHORTEST_BEGINNING && candidate.startsWith(name));
  if (near !== undefined) return `did you mean "${near.candidate}"?`;
  return known.length === 0 ? 'leave it out' : `known here: ${known.join(', ')}`;
}

/** Reads typed values out of a YAML file and collects everything that is wrong with it, with its place. */
export class YamlFields {
  readonly problems: FileProblem[] = [];
  readonly #lines = new LineCounter();

  /** The file's one document; undefined where it is no readable YAML, or empty. */
  read(text: string): YamlNode {
    const [document, next] = parseAllDocuments(text, {
      lineCounter: this.#lines,
      prettyErrors: false,
      // Integers beyond 2^53 keep their digits.
      intAsBigInt: true,
      merge: false,
    });
    if (document === undefined || !('contents' in document)) return undefined;
    for (const { pos, message } of document.errors) {
      this.report(pos[0], `not YAML: ${printable(message)}`, 'correct the syntax here');
    }
    if (next !== undefined)
      this.report(next.range[0], 'holds more than one document', 'remove everything from "---" on');
    if (this.problems.length > 0) return undefined;
    this.#refuseIndirection(document.contents);
    return this.problems.length > 0 ? undefined : document.contents;
  }

  report(at: YamlNode | number, message: string, remedy: string): void {
    const offset = typeof at === 'number' ? at : (at?.range?.[0] ?? 0);
    const { line, col } = this.#lines.linePos(offset);
    this.problems.push({ line: Math.max(1, line), column: Math.max(1, col), message, remedy });
  }

  /**
   * The fields of a mapping; unknown ones are reported and left out, so are those without a value. Undefined where it
   * is no mapping.
   *
   * @param refuse a say in unknown names: returns whether it has reported the name itself
   */
  fields(
    node: YamlNode,
    what: string,
    known: readonly string[],
    refuse: (name: string, field: Field) => boolean = () => false,
  ): Map<string, Field> | undefined {
    const fields = new Map<string, Field>();
    if (!isMap(node)) {
      this.report(node, `${what} must be a mapping (name: value)`, `write its fields: ${known.join(', ')}`);
      return undefined;
    }
    for (const { key, value } of node.items) {
      const offset = this.#nodeOf(key)?.range?.[0] ?? 0;
      if (!isScalar(key) || typeof key.value !== 'string') {
        this.report(offset, `${what} has a field whose name is no text`, 'name it by a word');
        continue;
      }
      const field = { value: this.#nodeOf(value), offset };
      if (known.includes(key.value)) {
        if (!isScalar(field.value) || field.value.value !== null) fields.set(key.value, field);
      } else if (!refuse(key.value, field)) {
        this.report(offset, `${what} has no field ${quoted(key.value)}`, suggestion(key.value, known));
      }
    }
    return fields;
  }

  /** The items of a sequence; undefined where it is none. */
  items(field: Field, what: string): YamlNode[] | undefined {
    if (isSeq(field.value)) return field.value.items.map((item) => this.#nodeOf(item));
    this.report(field.value, `${what} must be a list`, 'write it as [a, b] or one "- item" a line');
    return undefined;
  }

  text(node: YamlNode, what: string): string | undefined {
    if (isScalar(node) && typeof node.value === 'string') return node.value;
    this.report(node, `${what} must be a text`, 'put it in quotes');
    return undefined;
  }

  /** A text, number or word as it is written; undefined for anything else. */
  scalarText(node: YamlNode): string | undefined {
    if (!isScalar(node) || node.value === null) return undefined;
    return node.source ?? String(node.value);
  }

  /** A text of a fixed choice. */
  choice<T extends string>(node: YamlNode, what: string, choices: readonly T[]): T | undefined {
    const value = this.scalarText(node);
    const chosen = choices.find((choice) => choice === value);
    if (chosen === undefined) {
      const other = isScalar(node) ? 'empty' : 'a list or mapping';
      const found = value === undefined ? other : quoted(value);
      this.report(
        node,
        `${what} is ${found}, which is none of ${choices.join(', ')}`,
        suggestion(value ?? '', choices),
      );
    }
    return chosen;
  }

  /** The values of a list of a fixed choice, each once. */
  choices<T extends string>(field: Field, what: string, choices: readonly T[]): T[] | undefined {
    const items = this.items(field, what);
    if (items === undefined) return undefined;
    const chosen: T[] = [];
    for (const item of items) {
      const choice = this.choice(item, `an item of ${what}`, choices);
      if (choice === undefined) continue;
      if (chosen.includes(choice)) this.report(item, `${what} has ${quoted(choice)} twice`, 'remove one');
      else chosen.push(choice);
    }
    return chosen;
  }

  flag(node: YamlNode, what: string): boolean | undefined {
    if (isScalar(node) && typeof node.value === 'boolean') return node.value;
    this.report(node, `${what} must be true or false`, 'write true or false, without quotes');
    return undefined;
  }

  integer(node: YamlNode, what: string, minimum: bigint, maximum: bigint): bigint | undefined {
    if (isScalar(node) && typeof node.value === 'bigint' && node.value >= minimum && node.value <= maximum) {
      return node.value;
    }
    this.report(
      node,
      `${what} must be a whole number from ${minimum} to ${maximum}`,
      'write it in digits only',
    );
    return undefined;
  }

  number(node: YamlNode, what: string, minimum: number, maximum: number): number | undefined {
    const value = isScalar(node) ? node.value : undefined;
    const number = typeof value === 'bigint' || typeof value === 'number' ? Number(value) : Number.NaN;
    if (number >= minimum && number <= maximum) return number;
    this.report(node, `${what} must be a number from ${minimum} to ${maximum}`, 'write it in digits');
    return undefined;
  }

  /** What a few bytes of YAML can expand to a thousandfold, or turn into something else than they look like. */
  #refuseIndirection(contents: Node | null): void {
    visit(contents, {
      Node: (_key, node) => {
        if (isAlias(node)) this.report(node, 'aliases (*name) are not allowed', 'write the value out');
        else if (node.anchor !== undefined) {
          this.report(
            node,
            'anchors (&name) are not allowed',
            'remove it, and write the value out where it is used',
          );
        } else if (node.tag !== undefined) {
          this.report(node, 'tags (!name) are not allowed', 'remove the tag');
        }
      },
    });
  }

  #nodeOf(value: unknown): YamlNode {
    return isMap(value) || isSeq(value) || isScalar(value) ? value : undefined;
  }
}
