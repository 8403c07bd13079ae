import type { ApiKey } from '../../api-keys.ts';
import type { Call } from '../../call.ts';
import type { Personality } from '../personality.ts';
import { admitting, answering, closing, failing, where, withBody } from '../shapes.ts';
import type { FaultTable } from './fault.ts';
import { storedThoughRefused } from './refused-additions.ts';
import { whenOverLimit } from './windows.ts';

/** Lets everything through that would be refused and matches. */
const letThrough = (when: (key: ApiKey, call: Call) => boolean): Personality =>
  admitting((usual, key, call) => {
    const gate = usual(key, call);
    return gate.refusedBy === 'minute' && when(key, call)
      ? { ...gate, refusedBy: null, refusal: null }
      : gate;
  });

/** Refusals of the limit with another status. */
const refusedWith = (status: number, test: (call: Call) => boolean = () => true) =>
  failing(status, where(whenOverLimit, test));

/** Section 8: a request over the limit is refused with 429, and has no effect. */
// biome-ignore format: a table, a line or two for each fault
export const OVER_LIMIT_FAULTS: FaultTable = {
  'rate-refused-429': {
    'refused-503': ['A request over the limit is refused with 503.', refusedWith(503)],
    'refused-403': ['A request over the limit is refused with 403.', refusedWith(403)],
    'refused-400-on-add': ['An addition over the limit is refused with 400.',
      refusedWith(400, (call) => call.route.operation === 'createPet')],
    'refused-503-on-get': ['A retrieval over the limit is refused with 503.',
      refusedWith(503, (call) => call.route.operation === 'getPet')],
    'refused-get-served': ['A retrieval over the limit is served.',
      letThrough((_key, call) => call.route.operation === 'getPet')],
    'refused-add-served': ['An addition over the limit is served.',
      letThrough((_key, call) => call.route.operation === 'createPet')],
    'refused-filtered-list-served': ['A list with a status is served over the limit.',
      letThrough((_key, call) => call.target.includes('status='))],
    'refused-long-list-served': ['A list with limit=100 is served over the limit.',
      letThrough((_key, call) => call.target.includes('limit=100'))],
    'refused-empty-list': ['A list over the limit is answered with 200 and no animals.',
      answering(where(whenOverLimit, (call) => call.route.operation === 'listPets'),
        (answer) => ({ ...withBody(answer, '[]'), status: 200, headers: [] }))],
    'refused-every-other-served': ['Every third request over the limit is served.', () => {
      let refusals = 0;
      return letThrough(() => ++refusals % 3 === 0);
    }],
    'refused-connection-closed': ['A request over the limit gets no answer; the connection is closed.',
      closing(whenOverLimit)],
  },
  'rate-refused-adds-nothing': {
    'refused-add-stored': ['An addition that is refused with 429 is stored.',
      storedThoughRefused((answer) => answer.status === 429)],
    'banned-add-stored': ['An addition of a banned key is stored.',
      storedThoughRefused((_answer, call) => call.refusedBy === 'ban')],
  },
};
