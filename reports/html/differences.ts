import { html, type SafeHtml } from '@remix-run/html-template';
import { diffWordsWithSpace } from 'diff';
import type { Exchange } from '../../checks/wire/exchange.ts';
import type { RequirementResult } from '../report.ts';
import { clip, shownLines } from '../visible-text.ts';
import { markUnseen, shown } from './visible-html.ts';

/** The parts of an exchange that a verdict mentions. */
export interface Marks {
  readonly status: boolean;
  /** Lower-case names of header fields. */
  readonly headers: ReadonlySet<string>;
  /** Header fields that the document asks for here, and that are missing. */
  readonly missingHeaders: readonly string[];
  /** Names of fields of the body. */
  readonly fields: ReadonlySet<string>;
}

export const NO_MARKS: Marks = { status: false, headers: new Set(), missingHeaders: [], fields: new Set() };

/** The parts of an exchange that the texts of a failure mention. */
export function marksOf(row: RequirementResult, exchange: Exchange): Marks {
  if (row.verdict !== 'fail' || exchange.outcome.kind !== 'response') return NO_MARKS;
  const { status, headers } = exchange.outcome;
  const text = clip(`${row.expected ?? ''} ${row.actual ?? ''}`, 4_000);
  const named = new Set(
    text.match(/\b[A-Za-z][A-Za-z0-9]*(?:-[A-Za-z0-9]+)+\b/g)?.map((name) => name.toLowerCase()),
  );
  const present = new Set(headers.map(([name]) => name.toLowerCase()));
  const asked = row.expected?.match(/\b[A-Z][A-Za-z0-9]*(?:-[A-Z][A-Za-z0-9]*)+\b/g) ?? [];
  return {
    status: new RegExp(`\\b${status}\\b`).test(text),
    headers: new Set([...present].filter((name) => named.has(name))),
    missingHeaders: [...new Set(asked)].filter((name) => !present.has(name.toLowerCase())),
    fields: new Set(text.match(/\b[a-z][A-Za-z]+\b|\bid\b/g) ?? []),
  };
}

/** Two sentences with a smaller share of common characters are too different for marks. */
const ALIKE = 0.4;

/** From this share of the longer one on, all differences are marked; below it only values are. */
const NEARLY_SAME = 0.7;
/** A number, a quotation, or a name such as `X-RateLimit-Limit` or `categoryId`. */
const VALUE = /[\d"'`]|\w[-_/]\w|[a-z][A-Z]/;

/** Texts with more differences have no marks: the time to find them grows with their square. */
const MOST_DIFFERENCES = 200;

/** What was asked and what came. If the sentences are alike, the words that differ are marked. */
export function comparison(
  expected: string,
  actual: string,
): { readonly expected: SafeHtml; readonly actual: SafeHtml } {
  const plain = { expected: shown(expected), actual: shown(actual) };
  const parts = diffWordsWithSpace(shownLines(expected), shownLines(actual), {
    maxEditLength: MOST_DIFFERENCES,
  });
  if (parts === undefined) return plain;
  const common = parts
    .filter(({ added, removed }) => !added && !removed)
    .reduce((sum, { value }) => sum + value.length, 0);
  if (common < ALIKE * Math.min(expected.length, actual.length)) return plain;
  const all = common >= NEARLY_SAME * Math.max(expected.length, actual.length);
  const side = (other: 'added' | 'removed') =>
    html`${parts
      .filter((part) => !part[other])
      .map((part) =>
        (part.added || part.removed) && (all || VALUE.test(part.value))
          ? html`<mark>${markUnseen(part.value)}</mark>`
          : markUnseen(part.value),
      )}`;
  return { expected: side('added'), actual: side('removed') };
}
