import { STATUS_CODES } from 'node:http';
import { isNode, parseDocument } from 'yaml';
import { type Exchange, type HeaderList, header } from '../checks/wire/exchange.ts';
import { clip, lengthOf } from './visible-text.ts';

/** The other header fields are in report.json. */
const MOST_HEADERS = 30;
/** How many characters of a body are shown. */
const MOST_OF_BODY = 1_600;
/** How many characters of a body are shown on both sides of what is wrong. */
const AROUND = 400;

/** A part of an exchange as text, and whether a verdict is about it. */
export interface Part {
  readonly text: string;
  readonly wrong?: boolean;
}

/**
 * An exchange as text: what was sent, what came back; of a long body a window around what is wrong.
 *
 * @param at what is wrong, as in `RequirementResult.at`
 */
export function exchangeParts({ request, outcome }: Exchange, at: readonly string[] = []): Part[] {
  const line = ([name, value]: HeaderList[number]) => `${name}: ${clip(value, 200)}`;
  const asked = [`${request.method} ${request.path}`, ...request.headers.map(line)];
  const body = request.body === undefined ? [] : ['', clip(request.body, MOST_OF_BODY)];
  const sent = { text: [...asked, ...body, '', ''].join('\n') };
  if (outcome.kind === 'failure') return [sent, { text: `No answer: ${outcome.message}` }];
  const wrong = at.filter((one) => one.startsWith('header:')).map((one) => one.slice('header:'.length));
  const isWrong = (name: string) => wrong.some((one) => one.toLowerCase() === name.toLowerCase());
  const missing = wrong.filter((name) => header(outcome.headers, name) === undefined);
  const status = `HTTP ${outcome.status} ${STATUS_CODES[outcome.status] ?? ''}`.trim();
  return [
    sent,
    { text: status, wrong: at.includes('status') },
    ...outcome.headers
      .slice(0, MOST_HEADERS)
      .flatMap((field) => [{ text: '\n' }, { text: line(field), wrong: isWrong(field[0]) }]),
    ...[...new Set(missing)].flatMap((name) => [{ text: '\n' }, { text: `${name}: (missing)`, wrong: true }]),
    { text: '\n\n' },
    ...bodyParts(outcome.body, at),
  ];
}

export const exchangeText = (...of: Parameters<typeof exchangeParts>): string =>
  exchangeParts(...of)
    .map(({ text }) => text)
    .join('')
    .trimEnd();

function bodyParts(body: string, at: readonly string[]): Part[] {
  const pointer = at.find((one) => one.startsWith('body/'));
  const place = pointer === undefined ? undefined : placeIn(body, pointer.split('/').slice(1));
  if (place === undefined) return [{ text: clip(body, MOST_OF_BODY) }];
  const [from, to] = place;
  const isShort = body.length <= MOST_OF_BODY;
  const start = isShort ? 0 : Math.max(0, from - AROUND);
  const end = isShort ? body.length : Math.max(to, from + AROUND);
  const stop = Math.min(to, from + MOST_OF_BODY);
  return [
    { text: `${start > 0 ? '…' : ''}${body.slice(start, from)}` },
    { text: body.slice(from, stop), wrong: true },
    { text: `${body.slice(stop, end)}${end < body.length ? `… (${lengthOf(body)} characters in all)` : ''}` },
  ];
}

/** Where a value begins and ends in the text of a JSON body; undefined where it is not there. JSON is YAML, whose parser knows places. */
export function placeIn(
  body: string,
  path: readonly string[],
): readonly [from: number, to: number] | undefined {
  if (!/^\s*[[{]/.test(body)) return undefined;
  const document = parseDocument(body, { uniqueKeys: false, strict: false, logLevel: 'silent' });
  const node = document.errors.length > 0 ? undefined : document.getIn(path, true);
  const [from, to] = (isNode(node) ? node.range : undefined) ?? [];
  return from === undefined || to === undefined ? undefined : [from, to];
}
