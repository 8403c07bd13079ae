/** A target that lists and retrieves the animals of a store, and a run that has listed them and added some of its own. */

import type { RunOptions } from '../../../run/run.ts';
import { type TestRun, testRun } from '../../../run/testing/test-run.ts';
import type { ClientRequest } from '../../../wire/client.ts';
import type { Exchange } from '../../../wire/exchange.ts';
import { type AnswerParts, answered } from '../../../wire/testing/answered.ts';
import {
  type Animal,
  animalBody,
  listsOf,
  type Otherwise,
  type Own,
  storeOf,
} from '../../list/testing/listed.ts';
import { concluded, type Judged, judged, played } from '../../testing/judged.ts';
import { getAnimalChecks } from '../checks.ts';

export const NOT_FOUND: AnswerParts = {
  status: 404,
  body: '{"code":"not_found","message":"no such animal","status":404}',
};

/** What such a target answers. */
export const serving =
  (store: readonly Animal[]) =>
  (request: ClientRequest): AnswerParts => {
    if (request.operation === 'listPets') return storeOf(store)(request);
    const animal = store.find(([id]) => request.path === `/pets/${id}`);
    return animal === undefined ? NOT_FOUND : { body: animalBody(animal) };
  };

export interface Retrieving {
  readonly store?: readonly Animal[];
  /** What the run added; undefined where it may not add. */
  readonly own?: readonly Own[];
  /** Labels of additions that were not created. */
  readonly refused?: readonly string[];
  /** What the lists showed beforehand, where not the store. */
  readonly listed?: Parameters<typeof listsOf>[2];
  /** What the target answers otherwise. */
  readonly otherwise?: Otherwise;
  readonly options?: Partial<RunOptions>;
}

export const STORE: readonly Animal[] = [
  [1, 'available'],
  [2, 'pending'],
  [3, 'sold'],
];

/** An animal of that store that the run added. */
export const OWN: readonly Own[] = [{ id: 2, label: 'pending', sent: 'pending' }];

/** The longest list. */
export const LIST = '/pets?limit=100';

export async function retrievalRun(given: Retrieving = {}): Promise<TestRun> {
  const { store = STORE, own, refused = [], listed, otherwise = () => undefined, options } = given;
  const serve = serving(store);
  const test = testRun((request, number) => otherwise(request, number) ?? serve(request), {
    ...(own === undefined ? {} : { permissions: new Set(['writes'] as const) }),
    ...options,
  });
  const lists = listsOf(store, own, listed);
  await played(test.run, 'lists', lists);
  await played(test.run, 'basic-animals', lists.own);
  await played(test.run, 'enough-animals', [
    ...lists.own,
    ...refused.map((label) => ({
      label,
      sent: { name: label, categoryId: 1n, status: label },
      pet: undefined,
      exchange: answered({ id: `refused-${label}`, operation: 'createPet', method: 'POST', status: 400 }),
    })),
  ]);
  return test;
}

/** What is said of such a target, and what was asked of it for that. */
export async function said(
  id: string,
  given: Retrieving = {},
  before: (test: TestRun) => void = () => undefined,
): Promise<Judged & { readonly paths: readonly string[]; readonly waits: readonly string[] }> {
  const test = await retrievalRun(given);
  const { run, sent, waits } = test;
  before(test);
  const said = await judged(run, getAnimalChecks, id);
  return { ...said, paths: sent.map(({ path }) => path), waits: waits() };
}

/** Answers one path otherwise: in turn, the last one again and again. */
export function answering(path: string, ...answers: readonly (AnswerParts | undefined)[]): Otherwise {
  let asked = 0;
  return (request) => (request.path === path ? answers[Math.min(asked++, answers.length - 1)] : undefined);
}

/** One retrieval as it came. */
export const retrieval = (parts: AnswerParts = {}) =>
  answered({
    id: 'got',
    operation: 'getPet',
    path: '/pets/7',
    body: '{"id":7,"name":"Mia","categoryId":1}',
    ...parts,
  });
/** An addition of the run as it came back; of this animal, but for what is given. */
export const addition = (parts: AnswerParts = {}) =>
  answered({
    id: 'added',
    operation: 'createPet',
    method: 'POST',
    status: 201,
    body: '{"id":7,"name":"Mia","categoryId":1}',
    ...parts,
  });
/** What one check says in the end of a run that exchanged these. */
export const inTheEnd = (id: string, ...exchanges: readonly Exchange[]) =>
  concluded(testRun().run, getAnimalChecks, id, exchanges);

/** The same without an answer. */
export const broken = (exchange: Exchange): Exchange => ({
  ...exchange,
  outcome: { kind: 'failure', reason: 'reset', message: 'the connection was reset' },
});

/** Lets the target's clock show a time, and ours the same or another one. */
export const showing =
  (time: number, ours = time) =>
  ({ run, clock }: Pick<TestRun, 'run' | 'clock'>): void => {
    clock.pass(ours - clock.now());
    run.trace.targetClock.learn({ date: Math.floor(time / 1000) * 1000, sentAt: ours, receivedAt: ours });
  };
