/** How each fault and variant answers otherwise than the conforming server. */
import { hash } from 'node:crypto';
import { join } from 'node:path';
import t from 'tap';
import { assertAsStored } from '../../checks/testing/as-stored.ts';
import type { Deviation } from './deviation.ts';
import { EVERY_FAULT, FAULTS } from './faults/index.ts';
import { CHAPTERS, undisturbed, walked } from './testing/walk.ts';
import { EVERY_VARIANT } from './variants/index.ts';

type Seen = ReturnType<typeof walked> extends Iterable<infer One> ? One : never;
/** The lines of a deviation. Of what goes beyond a digest is kept, as of long texts. */
const MOST_LINES = 5;
const digest = (text: string) => hash('sha256', text).slice(0, 6);
const cut = (text: string) => (text.length > 72 ? `${text.slice(0, 60)}... ${digest(text)}` : text);

const FIELD = /^([\w-]+): (.*)$/gm;
const MEMBER = /"(\w+)"\s*:\s*("(?:[^"\\]|\\.)*"|[^,}\]]*)/g;
function named(text: string, pattern: RegExp) {
  const values = new Map<string, string>();
  for (const [, name = '', value = ''] of text.matchAll(pattern))
    values.set(name, values.has(name) ? `${values.get(name)}, ${value}` : value);
  return values;
}

/** What is other in a value: how much more a number or a date is, or the value alone, as what was before may change. */
function change(name: string, before: string, after: string): string {
  const isNumber = name !== 'HTTP' && [before, after].every((text) => /^-?\d+$/.test(text));
  if (!isNumber && !(before.endsWith(' GMT') && after.endsWith(' GMT'))) return cut(after);
  const more = isNumber ? BigInt(after) - BigInt(before) : (Date.parse(after) - Date.parse(before)) / 1000;
  return `${more > 0 ? '+' : ''}${more}${isNumber ? '' : ' s'}`;
}

/** What is other in values that have names. */
function changes(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string[] {
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((name) => {
    const [old, now] = [before.get(name), after.get(name)];
    if (now === old) return [];
    if (now === undefined) return `-${name}`;
    if (old !== undefined) return `${name} ${change(name, old, now)}`;
    const [former] = [...before].find(([other, value]) => value === now && !after.has(other)) ?? [];
    return `+${name} ${former === undefined ? cut(now) : `as ${former}`}`;
  });
}

function differences({ answer: before }: Seen, { answer: after }: Seen): string[] {
  if (before.head === after.head && before.body === after.body) return [];
  if (after.head === 'connection: closed\n') return ['closed'];
  const heads =
    before.head === after.head ? [] : changes(named(before.head, FIELD), named(after.head, FIELD));
  if (before.body === after.body) return heads;
  const old = before.statusCode < 400 === after.statusCode < 400 ? before.body : '';
  const [was, is] = [old, after.body].map((text) =>
    text.replace(MEMBER, '').replace(/\{,*\}(?:,\{,*\})*/g, '{}'),
  );
  const members = changes(named(old, MEMBER), named(after.body, MEMBER));
  return [...heads, ...members, ...(was === is ? [] : [`body ${cut(is ?? '')}`])];
}

/** What a server does otherwise: what is first asked to see it, how often it is seen, and when last. */
function described(usual: readonly Seen[], others: Iterable<Seen>): string {
  const found = new Map<string, string[]>();
  let at = 0;
  for (const other of others)
    for (const what of differences(usual[at++] ?? other, other)) {
      const places = found.get(what) ?? [];
      places.push(other.asked);
      found.set(what, places);
    }
  const lines = new Map<string, string>();
  for (const [what, [first = '', ...more]] of found) {
    const last = more.length > 0 ? ` (and ${more.length} more, to ${cut(more.at(-1) ?? '')})` : '';
    const line = `${cut(first)}${last}\n    `;
    lines.set(line, lines.has(line) ? `${lines.get(line)}; ${what}` : what);
  }
  const shown = [...lines].map((line) => line.join(''));
  const rest = shown.splice(MOST_LINES);
  if (rest.length > 0) shown.push(`and ${rest.length} other differences, ${digest(rest.join('\n'))}`);
  return shown.join('\n') || 'no difference in this walk';
}

/** What is answered: what is other than in the answer before. Of many only the first is told, and another status. */
function answered(all: readonly Seen[]): string {
  let last = new Map<string, string>();
  const lines = all.flatMap(({ asked, answer }) => {
    const fields = named(answer.head, FIELD);
    if (/, (?!1$)\d+$/.test(asked) && fields.get('HTTP') === last.get('HTTP')) return [];
    const others = changes(last, fields).join('; ');
    last = fields;
    return `${cut(asked)}\n    ${others}; ${cut(answer.body)}`;
  });
  return lines.join('\n');
}

t.test('each deviation differs from the conforming server as is stored', async (t) => {
  function* walk(deviation: Deviation, isLoad: boolean) {
    for (const chapter of CHAPTERS)
      if (isLoad === (chapter.name === 'load')) yield* walked(deviation, chapter);
  }
  const texts = undisturbed(() => {
    const [usual, usualLoad] = [[...walk({}, false)], [...walk({}, true)]];
    const all: Record<string, string> = { 'the conforming server': answered(usual) };
    for (const { name, deviation } of [...FAULTS, ...EVERY_VARIANT])
      all[name] = described(usual, walk(deviation, false));
    for (const { name, deviation } of EVERY_FAULT.slice(FAULTS.length))
      all[name] = described(usualLoad, walk(deviation, true));
    return all;
  });
  assertAsStored(t, join(import.meta.dirname, 'testing', 'differences.txt'), texts);
});
