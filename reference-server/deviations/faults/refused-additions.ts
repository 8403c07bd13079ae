import type { Answer, Behaviour } from '../../behaviour.ts';
import type { Call } from '../../call.ts';
import type { NewPet, PetStore } from '../../pet-store.ts';
import type { Personality } from '../personality.ts';
import { membersOf, readingPet, type When } from '../shapes.ts';

/** Building blocks for additions that are to be refused and are not, or otherwise. */

const UNNAMED: NewPet = { name: 'unnamed', categoryId: '0', status: null };

/** Takes an unnamed animal out of a body that is refused otherwise. */
export function bodyAccepted(accepted: (body: string) => boolean): Personality {
  return readingPet((usual, body, call) => (accepted(body) ? { animal: UNNAMED } : usual(body, call)));
}

/** What a body is that is JSON and no object. */
export function kindOf(body: string): 'array' | 'string' | 'number' | 'null' | 'other' {
  if (body === '' || isMalformed(body)) return 'other';
  const value: unknown = JSON.parse(body);
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'string') return 'string';
  return typeof value === 'object' ? 'other' : 'number';
}

/** Answers a refused addition whose body matches with another status. */
export function refusedWith(status: number, body: (text: string, call: Call) => boolean): Personality {
  return readingPet((usual, text, call) => {
    const read = usual(text, call);
    return 'problem' in read && body(text, call) ? { problem: { ...read.problem, status } } : read;
  });
}

/** Whether a body is an object with other members than one. */
export const lacks = (name: string) => (body: string) => {
  const members = membersOf(body);
  return members !== null && members.size > 0 && !members.has(name);
};
/** Whether there is a body that is no JSON. */
export function isMalformed(body: string): boolean {
  if (body === '') return false;
  try {
    JSON.parse(body);
    return false;
  } catch {
    return true;
  }
}

/** A refused addition that is stored all the same, where the refused member matches. */
export function storedThough(refused: (body: string) => boolean): Personality {
  return readingPet((usual, body, call, { store }) => {
    const read = usual(body, call);
    const members = membersOf(body);
    if (!('problem' in read) || members === null || !refused(body)) return read;
    const name = String(JSON.parse(members.get('name') ?? '"unnamed"'));
    const categoryId = /^-?\d{1,18}$/.exec(members.get('categoryId') ?? '')?.[0] ?? '0';
    store.add({ name, categoryId, status: 'available' });
    return read;
  });
}

/** Reads the body of an addition that was refused before, and perhaps answers otherwise. */
export function readThoughRefused(
  when: When,
  look: (read: ReturnType<Behaviour['readNewPet']>, answer: Answer, store: PetStore) => Answer,
): Personality {
  return {
    behaviour: (usual, { store }) => ({
      deliver(response, answer, headers, call) {
        if (call.route.operation !== 'createPet' || !when(answer, call))
          return usual.deliver(response, answer, headers, call);
        const chunks: Buffer[] = [];
        call.request.on('data', (chunk: Buffer) => chunks.push(chunk));
        call.request.on('end', () => {
          const read = usual.readNewPet(Buffer.concat(chunks).toString(), call);
          const last = look(read, answer, store);
          usual.deliver(response, last, last === answer ? headers : usual.headers(last, call), call);
        });
      },
    }),
  };
}

/** Stores an addition that was refused before its body was read. */
export const storedThoughRefused = (when: When): Personality =>
  readThoughRefused(when, (read, answer, store) => {
    if ('animal' in read) store.add(read.animal);
    return answer;
  });
