/**
 * The members of a JSON object as raw text. `JSON.parse` loses digits of large numbers, so it only decides whether a
 * text is JSON at all.
 */

/** A JSON text that holds an object, one that holds something else, or no JSON text. */
export type JsonObject =
  | { kind: 'object'; members: ReadonlyMap<string, string> }
  | { kind: 'other' }
  | { kind: 'malformed' };

const QUOTE = 34;
const BACKSLASH = 92;

function afterString(text: string, quote: number): number {
  let at = quote + 1;
  while (text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at + 1;
}

// A value ends at the comma or brace of its own level; commas and braces within strings do not count.
function afterValue(text: string, start: number): number {
  let depth = 0;
  for (let at = start; ; at += 1) {
    const char = text[at];
    if (char === '"') at = afterString(text, at) - 1;
    else if (char === '{' || char === '[') depth += 1;
    else if (depth === 0 && (char === ',' || char === '}')) return at;
    else if (char === '}' || char === ']') depth -= 1;
  }
}

/**
 * Reads one JSON text. Of members with the same name the last one counts, as in `JSON.parse`.
 *
 * @returns for an object its members' names, decoded, and their values as text
 */
export function readJsonObject(text: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { kind: 'malformed' };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { kind: 'other' };

  const members = new Map<string, string>();
  if (Object.keys(value).length === 0) return { kind: 'object', members };
  let at = text.indexOf('{') + 1;
  for (;;) {
    const nameStart = text.indexOf('"', at);
    const nameEnd = afterString(text, nameStart);
    const valueStart = text.indexOf(':', nameEnd) + 1;
    const valueEnd = afterValue(text, valueStart);
    members.set(String(JSON.parse(text.slice(nameStart, nameEnd))), text.slice(valueStart, valueEnd).trim());
    if (text[valueEnd] === '}') return { kind: 'object', members };
    at = valueEnd + 1;
  }
}
