/** Answers that are written as texts, and stored tables of what is said of them. */
import { readFileSync } from 'node:fs';
import type { Test } from 'tap';
import { NOON } from '../../run/testing/test-run.ts';
import { telling } from '../../sections/quota/testing/measured.ts';
import { assertAsStored } from '../../testing/as-stored.ts';
import type { AnsweredExchange } from '../../wire/exchange.ts';
import type { RateReading } from '../../wire/rate-headers.ts';
import { answered } from '../../wire/testing/answered.ts';
import { reading } from './simulated-limits.ts';

/** An answer, and the rate limit's view of it. */
export interface Written {
  readonly exchange: AnsweredExchange;
  readonly reading: RateReading;
}

/**
 * `100+20:59@60000` was sent a tenth of a second after noon and answered 20 ms later, with 59 left until a minute after
 * noon. Where it is not usual there follow the Date (`d0`), the status (`=429`), the limit (`L60`), Retry-After (`~59`), the
 * code of a refusal (`%banned`), the operation (`^getPet`), the path (`^/pets?limit=3`), the key (`&pro-1`), and `!` after a
 * lost answer. `*6/100` are six of them, a tenth of a second apart, each with one less left; `*6/100/0/1000` with nothing
 * less, and a Reset that moves on by a second each time.
 */
const FORM =
  /^(-?\d+)(?:\+(\d+))?(?::(-?\d+))?(?:@(-?\d+))?(?:d(-?\d+))?(?:=(\d+))?(?:L(\d+))?(?:~([^%^&!*]+))?(?:%(\w+))?(?:\^(\/[^&!*]+|\w+))?(?:&([\w-]+))?(!)?(?:\*(\d+)\/(\d+)(?:\/(\d+))?(?:\/(\d+))?)?$/;

function written(text: string, perMinute: number): Written[] {
  const found = FORM.exec(text);
  if (found === null) throw new Error(`no answer is written like this: ${text}`);
  const numbers = (from: number, to: number) =>
    found.slice(from, to).map((digits) => (digits === undefined ? undefined : Number(digits)));
  const [sent = 0, took = 10, left, reset, date, status = 200, limit = perMinute] = numbers(1, 8);
  const [retryAfter, code, kind = '/pets', key = 'free-1', lost] = found.slice(8, 13);
  const [times = 1, pace = 0, falls = 1, moves = 0] = numbers(13, 17);
  return Array.from({ length: times }, (_, index) => {
    const sentAt = NOON + sent + index * pace;
    const told = {
      ...{ status, limit },
      remaining: left === undefined ? undefined : Math.max(0, left - index * falls),
      reset: reset === undefined ? undefined : NOON + reset + index * moves,
      date: date === undefined ? undefined : NOON + date,
    };
    const sending = {
      ...{ id: `${text}#${index}`, key, sentAt, receivedAt: sentAt + took },
      operation: kind === 'getPet' || kind === 'createPet' || kind === 'other' ? kind : 'listPets',
      path: kind.startsWith('/') ? kind : '/pets',
    } as const;
    return {
      reading: reading({ ...told, ...sending, ...(lost === undefined ? {} : { afterLost: true }) }),
      get exchange() {
        const [reset, date] = [told.reset, told.date].map((time) => time && (time - NOON) / 1000);
        return answered({ ...telling({ ...told, reset, date, retryAfter, code }), ...sending });
      },
    };
  });
}

/** Groups of answers, each ` | ` away from the next; `-` is none. */
export const groupsOf = (line: string, perMinute: number): readonly Written[][] =>
  line
    .split(' | ')
    .map((group) => group.split(' ').flatMap((one) => (one === '-' ? [] : written(one, perMinute))));

/** Says something of a line, for a plan with a number a minute, and 1000 a day. */
export type Says = (line: string, perMinute: number) => unknown;

/** Says it of the groups of a line. */
export const ofGroups =
  (say: (groups: readonly Written[][], perMinute: number) => unknown): Says =>
  (line, perMinute) =>
    say(groupsOf(line, perMinute), perMinute);

/** What is true, and numbers, in few words. */
export const inWords = (said: Readonly<Record<string, unknown>>): string =>
  Object.entries(said)
    .filter(([, value]) => value !== undefined && value !== false)
    .map(([name, value]) => (value === true ? name : `${name} ${value}`))
    .join(', ');

const RANGE = /\{(-?\d+)\.\.(-?\d+)\}/;

/**
 * What is said of a line; of one with a range, `{0..90}`, what is said of its first number and its last, and where that
 * changes in between. Numbers alone change nothing, but where the range is a few numbers.
 */
async function saidOf(line: string, say: (line: string) => unknown): Promise<string> {
  const [range = '', from, to] = RANGE.exec(line) ?? [];
  if (from === undefined || to === undefined) return `${await say(line)}`;
  const at = async (number: number) => `${await say(line.replaceAll(range, `${number}`))}`;
  const [first, last] = [Number(from), Number(to)];
  const step = (last - first) / 20;
  const isSame = (one: string, other: string) =>
    step < 0.5 ? one === other : one.replaceAll(/-?[\d.]+/g, '') === other.replaceAll(/-?[\d.]+/g, '');
  const changes = async (low: number, high: number, before: string, after: string): Promise<string> => {
    if (high - low <= 1) return isSame(before, after) && high < last ? '' : `; ${high}: ${after}`;
    if (high - low <= step && isSame(before, after)) return high < last ? '' : `; ${high}: ${after}`;
    const middle = Math.floor((low + high) / 2);
    const there = await at(middle);
    return `${await changes(low, middle, before, there)}${await changes(middle, high, there, after)}`;
  };
  const said = await at(first);
  return `${said}${await changes(first, last, said, await at(last))}`;
}

/**
 * Asserts what is said of the lines of a file, each `answers → what is said`. A block's title begins with who says it and
 * the plan's number a minute. A line needs only its answers: with TAP_SNAPSHOT=1 the rest is written.
 */
export async function assertSaid(t: Test, file: string, says: Readonly<Record<string, Says>>): Promise<void> {
  const texts: Record<string, string> = {};
  for (const block of readFileSync(file, 'utf8')
    .split(/^===== /m)
    .slice(1)) {
    const [title = '', ...lines] = block.trim().split('\n');
    const [, name = '', perMinute = ''] = /^(\w+) (\d+)/.exec(title) ?? [];
    const say = (line: string) => says[name]?.(line, Number(perMinute));
    const said: string[] = [];
    for (const line of lines) {
      const [answers = ''] = line.split(/ →/);
      said.push(`${answers} → ${await saidOf(answers, say)}`);
    }
    texts[title] = said.join('\n');
  }
  assertAsStored(t, file, texts);
}
