/** The callers of a service: their keys and plans. */
import { setImmediate as turn } from 'node:timers/promises';
import { PLANS } from '../../../spec/plans.ts';

/** By the names that an accuracy case has for them. */
export const KEYS = [
  { name: 'free-1', plan: 'free', value: 'Pets-free-1-q7XwLr9' },
  { name: 'free-2', plan: 'free', value: 'Pets-free-2-m4TzBk2' },
  { name: 'free-ban', plan: 'free', value: 'Pets-free-ban-h8VnCs5' },
  { name: 'pro-1', plan: 'pro', value: 'Pets-pro-1-d3YjFp6' },
] as const;

interface Request {
  readonly headers: { readonly authorization?: string | undefined };
  readonly ip?: string | undefined;
}

/** The account that a request is counted for: the key's, and without a valid key the address. */
export async function accountOf({ headers: { authorization = '' }, ip = '' }: Request) {
  await turn(); // the database
  const sent = /^bearer +(\S+)$/i.exec(authorization)?.[1];
  const key = KEYS.find(({ value }) => value === sent);
  return { id: key?.name ?? ip, perMinute: PLANS[key?.plan ?? 'free'].perMinute, isKnown: key !== undefined };
}
