import crypto from 'node:crypto';
import { readFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { ApiKey, IssuedKey } from '../../api-keys.ts';
import { conformingDesign } from '../../conforming.ts';
import { requestHandler, serviceOf } from '../../server.ts';
import { UnsentResponse, unsentRequest } from '../../testing/unsent.ts';
import { type Deviation, deviating } from '../deviation.ts';

const PLANS = ['free', 'free', 'pro', 'business', 'enterprise'] as const;
const KEYS: readonly IssuedKey[] = PLANS.map((plan, at) => {
  const name = `${plan}-${at === 1 ? 2 : 1}`;
  return { name, plan, value: `${name}-seCret-of-27-Letters-X` };
});
/** Days are over sooner than those of the document. */
const MOST_PER_DAY = 2_100;

/** One line of the walk: a request, or a time that passes after so many requests of a key; and how often. */
function stepOf(line: string, usualKey: string) {
  const [, times = '1', how, text = ''] = /^(?:(\d+) (x|at once) )?(.*)$/.exec(line) ?? [];
  const [, spent, key, seconds] = /^(?:spend (\d+) of (\S+), )?\+([\d.]+) s$/.exec(text) ?? [];
  const [head = '', body] = text.split(' <- ');
  const [first = '', ...given] = head.split(' | ');
  const [method = '', path = ''] = first.split(' ');
  const headers: Record<string, string> = { host: 'localhost', accept: 'application/json' };
  const type = body === undefined ? [] : ['Content-Type: application/json'];
  for (const header of [`key ${usualKey}`, ...type, ...given]) {
    const [, field = '', value = ''] = /^([\w-]+):? ?(.*)$/.exec(header) ?? [];
    if (field === 'key') headers['authorization'] = `Bearer ${value}-seCret-of-27-Letters-X`;
    else if (value === 'none') delete headers[field.toLowerCase()];
    else if (field !== 'at') headers[field.toLowerCase()] = value;
  }
  const opened = () => unsentRequest(method, headers);
  const again = opened();
  const sent = (body ?? '').replace(/\ba\*(\d+)/, (_all, letters) => 'a'.repeat(Number(letters)));
  return {
    ...{ text, times: Number(times), atOnce: how === 'at once', seconds, spent: Number(spent ?? 0) },
    key: KEYS.find(({ name }) => name === key),
    path: given.includes('at the root') ? path : `/v1${path}`,
    opened: method === 'POST' ? opened : () => again,
    body: (at: number) => Buffer.from(sent.includes('#') ? sent.replaceAll('#', String(at)) : sent),
  };
}

/** Requests to a server of their own. How the walk is written stands at its top. */
export const CHAPTERS = readFileSync(join(import.meta.dirname, 'walk.txt'), 'utf8')
  .split('\n\n# ')
  .slice(1)
  .map((text) => {
    const [title = '', ...lines] = text.trimEnd().split('\n');
    const [name = '', animals = '', key = ''] = title.split(', ');
    return { name, animals: Number.parseInt(animals, 10), steps: lines.map((line) => stepOf(line, key)) };
  });

/** What is to happen later, and the time that has come, in milliseconds after the request. */
const later: { readonly run: () => void; readonly after: number }[] = [];
let time = 0;

/** A response as the walk stores it. */
class Recorded extends UnsentResponse {
  /** Status, times and header fields, a line for each; of the length only one that is wrong. */
  head = '';
  body = '';
  #length = '';
  override writeHead(status: number, ...headers: readonly unknown[]): this {
    super.writeHead(status, ...headers);
    this.head = `HTTP: ${status}\nbegun: after ${time} ms\n${this.sendDate ? '' : 'Date: of nobody\n'}`;
    for (const [name, value] of this.fields)
      if (name.toLowerCase() === 'content-length') this.#length = value;
      else this.head += `${name}: ${value}\n`;
    return this;
  }
  override end(...last: readonly unknown[]): this {
    super.end(...last);
    const sent = Buffer.concat(this.pieces);
    this.head += `ended: after ${time} ms, in ${this.pieces.length}\n`;
    if (this.#length !== String(sent.length)) this.head += `Content-Length: ${this.#length || 'absent'}\n`;
    this.body = String(sent[0] === 0x1f ? gunzipSync(sent) : sent);
    return this;
  }
  override destroy(): this {
    this.head = 'connection: closed\n';
    return this;
  }
}

let drawn = 1;
function below(end: number): number {
  drawn = (drawn * 48_271) % 2_147_483_647;
  return Math.floor((drawn / 2_147_483_647) * end);
}

/** What servers do where nothing is left to chance, and what is to happen later is kept for `walked`. */
export function undisturbed<T>(work: () => T): T {
  const put = (timers: unknown, random: unknown, randomInt: unknown, randomBytes: unknown) => {
    Object.assign(globalThis, { setTimeout: timers });
    Object.assign(Math, { random });
    Object.assign(crypto, { randomInt, randomBytes });
    syncBuiltinESMExports();
  };
  const usual = [setTimeout, Math.random, crypto.randomInt, crypto.randomBytes] as const;
  put(
    (run: () => void, after: number) => later.push({ run, after }),
    () => below(1e9) / 1e9,
    (from: number, to?: number) => (to === undefined ? below(from) : from + below(to - from)),
    (size: number) => Buffer.from(Array.from({ length: size }, () => below(256))),
  );
  try {
    return work();
  } finally {
    put(...usual);
  }
}

/** Puts a chapter to a server, in this process and without a socket: what is asked, and what is answered. */
export function* walked(deviation: Deviation, { name, animals, steps }: (typeof CHAPTERS)[number]) {
  drawn = 1;
  const clock = { speed: 1, time: Date.UTC(2026, 5, 1, 12, 0, 20) + 250, now: () => clock.time };
  const enterprise = { perMinute: 50, perDay: 120 };
  const { limitsOf, ...usual } = conformingDesign({ clock, keys: KEYS, enterprise });
  const perDay = (key: ApiKey) => Math.min(limitsOf(key).perDay, MOST_PER_DAY);
  const design = { ...usual, limitsOf: (key: ApiKey) => ({ ...limitsOf(key), perDay: perDay(key) }) };
  const service = serviceOf(design, { animals, design: () => deviating(design, deviation) });
  const handle = requestHandler(service, { listening: true });
  const added: string[] = [];
  for (const { text, times, atOnce, spent, key, seconds, path, opened, body } of steps) {
    let seen: { readonly asked: string; readonly answer: Recorded }[] = [];
    for (let number = 1; number <= times; number += 1) {
      for (let at = 0; key !== undefined && at < spent; at += 1) service.limiter.admit(key, clock.time);
      clock.time += Math.round(Number(seconds ?? 0) * 1000);
      if (seconds !== undefined) continue;
      const request = opened();
      request.url = path.replace(/\{(\d+)\}/, (_all, place) => added[Number(place) - 1] ?? '');
      const answer = new Recorded(request);
      seen.push({ asked: `${name}: ${text}${times > 1 ? `, ${number}` : ''}`, answer });
      handle(request, answer);
      request.emit('data', body(number));
      request.emit('end');
      if (atOnce && number < times) continue;
      for (let next = later.shift(); next !== undefined; next = later.shift()) {
        time = next.after;
        next.run();
        later.sort((one, other) => one.after - other.after);
      }
      time = 0;
      if (request.method === 'POST')
        added.push(...seen.map(({ answer }) => /"id"\s*:\s*"?(-?\d+)/.exec(answer.body)?.[1] ?? ''));
      yield* seen;
      seen = [];
    }
  }
}
