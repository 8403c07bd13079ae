import { type Answer, refusal } from '../answer.ts';
import type { Call } from '../design.ts';
import { readJson, replaceNumbers } from '../json.ts';
import type { NewPet } from '../pet-store.ts';
import { type Deviation, deciding } from './deviation.ts';

export const readingQuery = deciding('readListQuery');
const readingPet = deciding('readNewPet');

/** Changes what was read of an addition's body: an animal, or why there is none. */
export const readAs = (change: (read: NewPet | Answer, body: string, call: Call) => NewPet | Answer) =>
  readingPet((usual, body, call) => change(usual(body, call), body, call));

/** Refuses additions that would be accepted. */
export const refusing = (refused: (animal: NewPet, call: Call) => boolean, status = 400) =>
  readAs((read, _body, call) => {
    if ('text' in read || !refused(read, call)) return read;
    return refusal(status, 'invalid_animal', 'The animal is not accepted.');
  });

/** The members of a body's object and their values as JSON; null if it is no object. Later ones of a name count. */
export function membersOf(body: string): Map<string, string> | null {
  try {
    const { value, numbers } = readJson(body);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
    const written = (member: unknown) =>
      replaceNumbers(JSON.stringify(member), (place) => numbers[Number(place)] ?? '');
    return new Map(Object.entries(value).map(([name, member]) => [name, written(member)]));
  } catch {
    return null;
  }
}

/** Reads an addition's body as if another one had been sent. */
export const bodyAs = (change: (body: string) => string): Deviation =>
  readingPet((usual, body, call) => usual(change(body), call));

/**
 * Takes a member of a body for something else.
 *
 * @param sent matches the member's JSON, which is the empty text if there is no such member
 * @param as what it is taken for; undefined removes it
 */
export const memberAs = (
  name: string,
  sent: RegExp,
  as: string | undefined | ((text: string) => string | undefined),
): Deviation =>
  bodyAs((body) => {
    const members = membersOf(body);
    const text = members?.get(name) ?? '';
    if (members === null || !sent.test(text)) return body;
    const taken = typeof as === 'function' ? as(text) : as;
    if (taken === undefined) members.delete(name);
    else members.set(name, taken);
    return `{${[...members].map(([key, value]) => `${JSON.stringify(key)}:${value}`).join(',')}}`;
  });
