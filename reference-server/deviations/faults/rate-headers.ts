import { type Personality, together } from '../personality.ts';
import { answers, header, queried, succeeds, type When } from '../shapes.ts';
import { type Fault, fault } from './fault.ts';

const LIMIT = 'X-RateLimit-Limit';
const REMAINING = 'X-RateLimit-Remaining';
const RESET = 'X-RateLimit-Reset';

const absent = (when: When, ...names: readonly string[]): Personality =>
  together(...names.map((name) => header(name, when, () => null)));
const allAbsent = (when: When) => absent(when, LIMIT, REMAINING, RESET);

/** Renames the three headers. */
const renamed = (when: When, prefix: string): Personality => ({
  behaviour: (usual) => ({
    headers(answer, call) {
      const headers = usual.headers(answer, call);
      return when(answer, call) ? headers.map((text) => text.replace(/^X-RateLimit-/i, prefix)) : headers;
    },
  }),
});

const onOther: When = (answer, call) =>
  ![200, 201, 400, 401, 404, 429].includes(answer.status) && call.route.operation !== 'none';
const on429: When = (answer, call) => answer.status === 429 && call.refusedBy !== 'ban';
const onMissingKey: When = (answer, call) => answer.status === 401 && call.authorization === null;

const ON_200 = 'rate-headers-on-200';
const ON_201 = 'rate-headers-on-201';
const ON_400 = 'rate-headers-on-400';
const ON_401 = 'rate-headers-on-401';
const ON_404 = 'rate-headers-on-404';
const ON_429 = 'rate-headers-on-429';
const ON_OTHER = 'rate-headers-on-other';

/** Section 8: the three headers on every response. */
export const RATE_HEADER_FAULTS: readonly Fault[] = [
  fault('headers-absent-on-200', ON_200, 'A 200 has no rate headers.', allAbsent(answers(200))),
  fault(
    'headers-absent-on-get',
    ON_200,
    'A retrieved animal has no rate headers.',
    allAbsent(succeeds('getPet')),
  ),
  fault(
    'remaining-absent-on-list',
    ON_200,
    'A list has no X-RateLimit-Remaining.',
    absent(succeeds('listPets'), REMAINING),
  ),
  fault(
    'reset-absent-on-get',
    ON_200,
    'A retrieved animal has no X-RateLimit-Reset.',
    absent(succeeds('getPet'), RESET),
  ),
  fault(
    'headers-absent-on-filtered-list',
    ON_200,
    'A list with a status has no rate headers.',
    allAbsent((answer, call) => succeeds('listPets')(answer, call) && call.target.includes('status=')),
  ),
  fault(
    'headers-absent-on-sold-list',
    ON_200,
    'Only the list of sold animals has no X-RateLimit-Limit.',
    absent((_answer, call) => queried(call, 'status=sold'), LIMIT),
  ),
  fault(
    'headers-of-the-draft-on-200',
    ON_200,
    'A 200 has RateLimit-Limit, -Remaining and -Reset instead.',
    renamed(answers(200), 'RateLimit-'),
  ),
  fault(
    'headers-hyphenated-on-200',
    ON_200,
    'A 200 has X-Rate-Limit-Limit, -Remaining and -Reset instead.',
    renamed(answers(200), 'X-Rate-Limit-'),
  ),

  fault('headers-absent-on-201', ON_201, 'A 201 has no rate headers.', allAbsent(answers(201))),
  fault('reset-absent-on-201', ON_201, 'A 201 has no X-RateLimit-Reset.', absent(answers(201), RESET)),
  fault('limit-absent-on-201', ON_201, 'A 201 has no X-RateLimit-Limit.', absent(answers(201), LIMIT)),

  fault('headers-absent-on-400', ON_400, 'A 400 has no rate headers.', allAbsent(answers(400))),
  fault(
    'headers-absent-on-400-malformed',
    ON_400,
    'Only malformed JSON is refused without rate headers.',
    allAbsent((answer) => answer.status === 400 && answer.text.includes('malformed_json')),
  ),
  fault(
    'remaining-absent-on-400',
    ON_400,
    'A 400 has no X-RateLimit-Remaining.',
    absent(answers(400), REMAINING),
  ),

  fault('headers-absent-on-401', ON_401, 'A 401 has no rate headers.', allAbsent(answers(401))),
  fault(
    'headers-absent-on-401-for-add',
    ON_401,
    'An addition refused with 401 has no rate headers.',
    allAbsent(answers(401, 'createPet')),
  ),
  fault(
    'headers-absent-on-401-without-key',
    ON_401,
    'Only without any key a 401 has no rate headers.',
    allAbsent(onMissingKey),
  ),
  fault('reset-absent-on-401', ON_401, 'A 401 has no X-RateLimit-Reset.', absent(answers(401), RESET)),

  fault('headers-absent-on-404', ON_404, 'A 404 has no rate headers.', allAbsent(answers(404))),
  fault('limit-absent-on-404', ON_404, 'A 404 has no X-RateLimit-Limit.', absent(answers(404), LIMIT)),

  fault('headers-absent-on-429', ON_429, 'A 429 has no rate headers.', allAbsent(on429)),
  fault('remaining-absent-on-429', ON_429, 'A 429 has no X-RateLimit-Remaining.', absent(on429, REMAINING)),
  fault('reset-absent-on-429', ON_429, 'A 429 has no X-RateLimit-Reset.', absent(on429, RESET)),
  fault(
    'headers-absent-on-429-for-add',
    ON_429,
    'An addition refused with 429 has no rate headers.',
    allAbsent((answer, call) => on429(answer, call) && call.route.operation === 'createPet'),
  ),

  fault(
    'headers-absent-on-other',
    ON_OTHER,
    'Statuses that the document does not name have no rate headers.',
    allAbsent(onOther),
  ),
  fault(
    'reset-absent-on-other',
    ON_OTHER,
    'Statuses that the document does not name have no X-RateLimit-Reset.',
    absent(onOther, RESET),
  ),
];
