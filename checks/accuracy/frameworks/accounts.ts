/** The callers of a service: their keys and plans. */
import { setImmediate as turn } from 'node:timers/promises';
import { PLANS } from '../../../spec/plans.ts';

/** Key values by the names that an accuracy case has for them. */
export const KEYS = new Map([
  ['free-1', 'Pets-free-1-q7XwLr9'],
  ['free-2', 'Pets-free-2-m4TzBk2'],
  ['free-ban', 'Pets-free-ban-h8VnCs5'],
  ['pro-1', 'Pets-pro-1-d3YjFp6'],
]);

/** Requests a minute of a key, and of callers without one. */
export const perMinute = (name = ''): number => (name.startsWith('pro') ? PLANS.pro : PLANS.free).perMinute;

interface Request {
  readonly headers: { readonly authorization?: string | undefined };
  readonly ip?: string | undefined;
}

/** The account that a request is counted for: the key's, and without a valid key the address. */
export async function accountOf({ headers: { authorization = '' }, ip = '' }: Request) {
  await turn(); // the database
  const sent = /^bearer +(\S+)$/i.exec(authorization)?.[1];
  const name = [...KEYS].find(([, value]) => value === sent)?.[0];
  return { id: name ?? ip, perMinute: perMinute(name), isKnown: name !== undefined };
}
