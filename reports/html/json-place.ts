import { isMap, isScalar, type Node, parseDocument } from 'yaml';

/** A part of a text. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** A place in a body that a verdict is about. */
export interface Place {
  /** What is wrong. */
  readonly value: Span;
  /** The item of the list in which it is, else the whole. */
  readonly item: Span;
  /** `animal 91: status is "adopted"`. */
  readonly words: string;
}

/** A longer value is not repeated in words. */
const MOST_WORDS = 200;

/** Finds a JSON Pointer in the text of a body; undefined where the text has no such place. JSON is YAML, whose parser knows places. */
export function placeIn(body: string, pointer: string): Place | undefined {
  const path = pointer.split('/').slice(1);
  if (path.length === 0 || !/^\s*[[{]/.test(body)) return undefined;
  const document = parseDocument(body, { uniqueKeys: false, strict: false, logLevel: 'silent' });
  if (document.errors.length > 0) return undefined;
  const at = (steps: readonly string[]): Node | undefined => {
    const node: unknown = steps.length === 0 ? document.contents : document.getIn(steps, true);
    return isNode(node) ? node : undefined;
  };
  const value = spanOf(at(path));
  const inList = /^\d+$/.test(path[0] ?? '');
  const itemNode = at(inList ? path.slice(0, 1) : []);
  const item = spanOf(itemNode);
  if (value === undefined || item === undefined) return undefined;
  const id = isMap(itemNode) ? itemNode.get('id', true) : undefined;
  const idText = isScalar(id) ? (id.source ?? '') : '';
  const field = path.slice(inList ? 1 : 0).join('.');
  const text = body.slice(value.from, value.to);
  const what = text.length > MOST_WORDS ? `${text.slice(0, MOST_WORDS)}…` : text;
  const name = idText === '' ? (inList ? `item ${Number(path[0]) + 1} of the list` : '') : `animal ${idText}`;
  return {
    value,
    item,
    words: [name, field === '' ? what : `${field} is ${what}`].filter(Boolean).join(': '),
  };
}

const isNode = (node: unknown): node is Node =>
  typeof node === 'object' && node !== null && 'range' in node && Array.isArray(node.range);

function spanOf(node: Node | undefined): Span | undefined {
  const [from, to] = node?.range ?? [];
  return from === undefined || to === undefined ? undefined : { from, to };
}
