/** What the observers say of servers that answer the document's gaps in their own ways. */

import t from 'tap';
import { startReferenceServer } from '../../reference-server/reference-server.ts';
import { currentId } from '../../spec/contract.ts';
import { sharedClock } from '../run/clock.ts';
import { playRun } from '../run/play.ts';
import { preflight } from '../run/preflight.ts';
import { Run } from '../run/run.ts';
import { testKey } from '../run/testing/test-run.ts';
import { createClient } from '../wire/client.ts';
import { allGapObservers } from './all-checks.ts';

/** The observers that need no key at its limit. */
const observers = allGapObservers.filter(({ scenes }) =>
  scenes.every(({ permit }) => permit === undefined || permit === 'writes'),
);

/** The answers that the run showed, by gap. */
async function answersOf(variant?: string): Promise<Record<string, string>> {
  const clock = sharedClock();
  const server = await startReferenceServer({
    clock,
    animals: 30,
    ...(variant === undefined ? {} : { variant }),
  });
  const [pro] = server.keys.filter(({ name }) => name === 'pro-1');
  if (pro === undefined) throw new Error('the server has no key pro-1');
  const client = createClient({ baseUrl: server.baseUrl, now: () => clock.now(), secrets: [pro.value] });
  try {
    const run = new Run({
      baseUrl: server.baseUrl,
      id: 'abcd2345',
      client,
      clock,
      clockSpeed: clock.speed,
      keys: [
        testKey({ name: 'pro-1', plan: 'pro', limits: { perMinute: 300, perDay: 10_000 }, value: pro.value }),
      ],
      permissions: new Set(['writes']),
      sampleCategoryId: undefined,
      declined: new Set(),
    });
    const ready = await preflight(run);
    if (ready.kind === 'not-ready') throw new Error(ready.message);
    const { gaps } = await playRun(run, { checks: [], gapObservers: observers });
    return Object.fromEntries(
      [...gaps].flatMap(([id, answer]) => ('kind' in answer ? [] : [[id, answer.answer]])),
    );
  } finally {
    await client.close();
    await server.close();
  }
}

/** What the reference server says of itself, by gap. */
const USUAL: Readonly<Record<string, string>> = {
  'store-orders': 'absent',
  'name-character-set': 'any-script',
  'name-length': 'accepted',
  'category-existence': 'accepted',
  'status-when-omitted': 'none',
  'limit-out-of-range': 'rejected-400',
  'limit-not-a-number': 'rejected-400',
  'unknown-status-filter': 'rejected-400',
  'pagination-mechanism': 'none',
  'error-codes': '400 invalid_limit, 400 invalid_status, 404 not_found',
};

/** What else variants answer, by name. */
const OTHERWISE: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'oldest-first': {
    'status-when-omitted': 'available',
    'pagination-mechanism': 'link-header',
  },
  'largest-ids': {
    'limit-out-of-range': 'clamped',
    'unknown-status-filter': 'empty-list',
    'error-codes': '400 invalid_limit, 404 not_found',
  },
  'negative-ids': {
    'status-when-omitted': 'pending',
    'error-codes': '400 invalid_limit, 400 invalid_status, 404 not_found',
  },
  'windows-by-clock': {
    'limit-out-of-range': 'defaulted',
    'limit-not-a-number': 'defaulted',
    'unknown-status-filter': 'unfiltered',
    'error-codes': '404 not_found',
  },
  strict: {
    'name-character-set': 'rejected-400',
    'name-length': 'rejected-400',
    'category-existence': 'rejected-400',
    'error-codes':
      '400 invalid_animal, 400 invalid_limit, 400 invalid_status, 400 unknown_field, 404 not_found',
  },
  'long-names-413': {
    'name-length': 'rejected-413',
    'error-codes':
      '400 invalid_limit, 400 invalid_status, 404 not_found, 413 invalid_animal, 422 unknown_field',
  },
};

const byCurrentId = (answers: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(answers).map(([id, answer]) => [currentId(id), answer]));

t.test('the reference server’s answers are seen as they are', async (t) => {
  t.hasStrict(await answersOf(), byCurrentId(USUAL));
});

for (const [variant, answers] of Object.entries(OTHERWISE)) {
  t.test(`${variant}: its answers are seen as they are`, async (t) => {
    t.hasStrict(await answersOf(variant), byCurrentId({ ...USUAL, ...answers }));
  });
}
