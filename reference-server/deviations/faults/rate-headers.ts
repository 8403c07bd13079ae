import { answers, headersAbsent, queried, sendingHeaders, succeeds, type When } from '../shapes.ts';
import type { FaultTable } from './fault.ts';

const LIMIT = 'X-RateLimit-Limit';
const REMAINING = 'X-RateLimit-Remaining';
const RESET = 'X-RateLimit-Reset';

const allAbsent = (when: When) => headersAbsent(when, LIMIT, REMAINING, RESET);

/** Renames the three headers. */
const renamed = (when: When, prefix: string) =>
  sendingHeaders((usual, answer, call) => {
    const headers = usual(answer, call);
    return when(answer, call) ? headers.map((text) => text.replace(/^X-RateLimit-/i, prefix)) : headers;
  });

const onOther: When = (answer, call) =>
  ![200, 201, 400, 401, 404, 429].includes(answer.status) && call.route.operation !== 'none';
const on429: When = (answer, call) => answer.status === 429 && call.refusedBy !== 'ban';
const onMissingKey: When = (answer, call) => answer.status === 401 && call.authorization === null;

/** Section 8: the three headers on every response. */
// biome-ignore format: a table, a line or two for each fault
export const RATE_HEADER_FAULTS: FaultTable = {
  'rate-headers-on-200': {
    'headers-absent-on-200': ['A 200 has no rate headers.', allAbsent(answers(200))],
    'headers-absent-on-get': ['A retrieved animal has no rate headers.', allAbsent(succeeds('getPet'))],
    'remaining-absent-on-list': ['A list has no X-RateLimit-Remaining.',
      headersAbsent(succeeds('listPets'), REMAINING)],
    'reset-absent-on-get': ['A retrieved animal has no X-RateLimit-Reset.',
      headersAbsent(succeeds('getPet'), RESET)],
    'headers-absent-on-filtered-list': ['A list with a status has no rate headers.',
      allAbsent((answer, call) => succeeds('listPets')(answer, call) && call.target.includes('status='))],
    'headers-absent-on-sold-list': ['Only the list of sold animals has no X-RateLimit-Limit.',
      headersAbsent((_answer, call) => queried(call, 'status=sold'), LIMIT)],
    'headers-of-the-draft-on-200': ['A 200 has RateLimit-Limit, -Remaining and -Reset instead.',
      renamed(answers(200), 'RateLimit-')],
    'headers-hyphenated-on-200': ['A 200 has X-Rate-Limit-Limit, -Remaining and -Reset instead.',
      renamed(answers(200), 'X-Rate-Limit-')],
  },
  'rate-headers-on-201': {
    'headers-absent-on-201': ['A 201 has no rate headers.', allAbsent(answers(201))],
    'reset-absent-on-201': ['A 201 has no X-RateLimit-Reset.', headersAbsent(answers(201), RESET)],
    'limit-absent-on-201': ['A 201 has no X-RateLimit-Limit.', headersAbsent(answers(201), LIMIT)],
  },
  'rate-headers-on-400': {
    'headers-absent-on-400': ['A 400 has no rate headers.', allAbsent(answers(400))],
    'headers-absent-on-400-malformed': ['Only malformed JSON is refused without rate headers.',
      allAbsent((answer) => answer.status === 400 && answer.text.includes('malformed_json'))],
    'remaining-absent-on-400': ['A 400 has no X-RateLimit-Remaining.', headersAbsent(answers(400), REMAINING)],
  },
  'rate-headers-on-401': {
    'headers-absent-on-401': ['A 401 has no rate headers.', allAbsent(answers(401))],
    'headers-absent-on-401-for-add': ['An addition refused with 401 has no rate headers.',
      allAbsent(answers(401, 'createPet'))],
    'headers-absent-on-401-without-key': ['Only without any key a 401 has no rate headers.',
      allAbsent(onMissingKey)],
    'reset-absent-on-401': ['A 401 has no X-RateLimit-Reset.', headersAbsent(answers(401), RESET)],
  },
  'rate-headers-on-404': {
    'headers-absent-on-404': ['A 404 has no rate headers.', allAbsent(answers(404))],
    'limit-absent-on-404': ['A 404 has no X-RateLimit-Limit.', headersAbsent(answers(404), LIMIT)],
  },
  'rate-headers-on-429': {
    'headers-absent-on-429': ['A 429 has no rate headers.', allAbsent(on429)],
    'remaining-absent-on-429': ['A 429 has no X-RateLimit-Remaining.', headersAbsent(on429, REMAINING)],
    'reset-absent-on-429': ['A 429 has no X-RateLimit-Reset.', headersAbsent(on429, RESET)],
    'headers-absent-on-429-for-add': ['An addition refused with 429 has no rate headers.',
      allAbsent((answer, call) => on429(answer, call) && call.route.operation === 'createPet')],
  },
  'rate-headers-on-other': {
    'headers-absent-on-wrong-method': ['A method that a path does not have is answered without rate headers.',
      allAbsent(answers(405))],
    'headers-absent-on-other': ['Statuses that the document does not name have no rate headers.',
      allAbsent(onOther)],
    'reset-absent-on-other': ['Statuses that the document does not name have no X-RateLimit-Reset.',
      headersAbsent(onOther, RESET)],
  },
};
