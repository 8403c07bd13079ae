/** The callers: keys, their plans, and bans. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Is } from './catalogue.ts';

const PER_MINUTE = { free: 60, pro: 300 };

/** Key values by the names that an accuracy case has for them. */
export const KEYS = new Map([
  ['free-1', 'Pets-free-1-q7XwLr9'],
  ['free-2', 'Pets-free-2-m4TzBk2'],
  ['free-ban', 'Pets-free-ban-h8VnCs5'],
  ['pro-1', 'Pets-pro-1-d3YjFp6'],
]);

/** The account that a request is counted for. */
export interface Caller {
  readonly id: string;
  readonly perMinute: number;
  readonly known: boolean;
}

export interface Request {
  readonly method: string;
  readonly headers: { readonly authorization?: string | undefined };
  readonly ip?: string | undefined;
}

/** Finds the caller of a request; without a key, callers are counted by address. */
export function callers(is: Is, store: 'map' | 'database'): (request: Request) => Promise<Caller> {
  return async ({ headers: { authorization = '' }, ip = '', method }) => {
    if (store === 'database') await sleep(2);
    const scheme = is('any-scheme') ? /^\S+ +(\S+)$/ : /^bearer +(\S+)$/i;
    const sent = scheme.exec(authorization)?.[1] ?? '';
    const name = [...KEYS].find(([, value]) =>
      is('key-in-any-case') ? value.toLowerCase() === sent.toLowerCase() : value === sent,
    )?.[0];
    const plan = name?.startsWith('pro') && !is('one-limit-for-all') ? 'pro' : 'free';
    return {
      id: name === undefined || is('bucket-per-address') ? ip : name,
      perMinute: PER_MINUTE[plan],
      known: name !== undefined || (is('reads-are-public') && method === 'GET'),
    };
  };
}

const PATIENCE = 20;
const BAN_SECONDS = 120;

/** Bans callers that are refused repeatedly without a pause. */
export class Bans {
  readonly #is: Is;
  readonly #refused = new Map<string, number>();
  readonly #until = new Map<string, number>();

  constructor(is: Is) {
    this.#is = is;
  }

  admitted(id: string): void {
    this.#refused.delete(id);
  }

  refused(id: string): void {
    const count = (this.#refused.get(id) ?? 0) + 1;
    this.#refused.set(id, count);
    if (count < (this.#is('ban-at-first-refusal') ? 1 : PATIENCE)) return;
    const seconds = this.#is('ban-for-good') ? 1e9 : this.#is('ban-longer-than-told') ? 500 : BAN_SECONDS;
    this.#until.set(this.#is('ban-on-everybody') ? '' : id, Date.now() + 1000 * seconds);
    this.#refused.delete(id);
  }

  /** End of a caller's ban in milliseconds since 1970; undefined if it is not banned. */
  until(id: string): number | undefined {
    const until = this.#until.get(this.#is('ban-on-everybody') ? '' : id) ?? 0;
    return until > Date.now() ? Math.min(until, Date.now() + 1000 * BAN_SECONDS) : undefined;
  }
}
