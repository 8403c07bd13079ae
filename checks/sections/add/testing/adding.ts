/** A target that adds whatever it is sent, and a run that may add. */

import type { RunOptions } from '../../../run/run.ts';
import { type Answers, type TestRun, testRun } from '../../../run/testing/test-run.ts';
import type { ClientRequest } from '../../../wire/client.ts';
import { type Animal, type Otherwise, storeOf } from '../../list/testing/listed.ts';

/** The ids that it gives are from 101 on. */
export function adding(store: readonly Animal[] = [], otherwise: Otherwise = () => undefined): Answers {
  let id = 100;
  return (request, number) => {
    const other = otherwise(request, number);
    if (other !== undefined) return other;
    if (request.operation !== 'createPet') return storeOf(store)(request);
    id += 1;
    // A field `id` of the body's own is no matter.
    const fields = request.body?.replace(/^\s*\{(\s*"id":\d+,)?/, '');
    return { status: 201, body: `{"id":${id},${fields}` };
  };
}

/** A run against such a target. */
export const addingRun = (
  store?: readonly Animal[],
  otherwise?: Otherwise,
  options: Partial<RunOptions> = {},
): TestRun => testRun(adding(store, otherwise), { permissions: new Set(['writes'] as const), ...options });

/** What was sent to add animals, in order. */
export const additionsOf = (sent: readonly ClientRequest[]): readonly ClientRequest[] =>
  sent.filter(({ operation }) => operation === 'createPet');
