import { html, type SafeHtml } from '@remix-run/html-template';
import jsTokens from 'js-tokens';
import { shownLines } from '../visible-text.ts';
import { markUnseen, shown } from './visible-html.ts';

/** A longer body is not parsed for colours. */
const MOST_PARSED = 256 * 1024;

/**
 * A body as the page shows it: JSON indented and coloured, anything else as text. Only white space between tokens
 * changes. Unlike with JSON.parse, numbers and strings keep every character.
 *
 * @param most after this many characters the rest is left out
 * @param fields names of fields to mark, with their values unless these are arrays or objects
 */
export function bodyHtml(body: string, most: number, fields: ReadonlySet<string>): SafeHtml {
  if (!isJson(body)) return shown(body, most);
  const parts: SafeHtml[] = [];
  let written = 0;
  let depth = 0;
  let marking = false;
  const tokens = [...significantTokens(body)];
  const indent = () => `\n${'  '.repeat(Math.min(depth, 20))}`;
  for (const [index, token] of tokens.entries()) {
    if (written > most) {
      parts.push(html`<i class="quiet">… the body has ${body.length.toLocaleString('en')} characters</i>`);
      break;
    }
    const { value } = token;
    const next = tokens[index + 1]?.value;
    written += value.length;
    if (value === '{' || value === '[') {
      marking = false;
      depth += 1;
      const empty = next === '}' || next === ']';
      parts.push(html`${value}${empty ? '' : indent()}`);
    } else if (value === '}' || value === ']') {
      depth -= 1;
      const previous = tokens[index - 1]?.value;
      parts.push(html`${previous === '{' || previous === '[' ? '' : indent()}${value}`);
    } else if (value === ',') {
      marking = false;
      parts.push(html`,${indent()}`);
    } else if (value === ':') {
      parts.push(html`: `);
    } else {
      const isName = next === ':';
      if (isName) marking = fields.has(value.slice(1, -1));
      const text = markUnseen(shownLines(value, most));
      const name = isName
        ? 'k'
        : token.type === 'StringLiteral'
          ? 's'
          : token.type === 'NumericLiteral' || value === '-'
            ? 'n'
            : 'w';
      parts.push(
        marking ? html`<mark><i class="${name}">${text}</i></mark>` : html`<i class="${name}">${text}</i>`,
      );
    }
  }
  return html`${parts}`;
}

function isJson(body: string): boolean {
  if (body.length > MOST_PARSED || !/^\s*[[{]/.test(body)) return false;
  try {
    JSON.parse(body);
    return true;
  } catch {
    return false;
  }
}

function* significantTokens(body: string): Generator<{ readonly type: string; readonly value: string }> {
  for (const token of jsTokens(body)) {
    if (token.type !== 'WhiteSpace' && token.type !== 'LineTerminatorSequence') yield token;
  }
}
