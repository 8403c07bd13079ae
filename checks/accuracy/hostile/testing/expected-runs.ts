import type { HostileTarget } from './hostile-target.ts';

/** The expected result of a whole run against a hostile target. */
export type ExpectedRun =
  /** Nothing is judged, and one line says why. */
  | { readonly kind: 'not-ready'; readonly message: RegExp }
  /** The target is judged: exactly these requirements are broken, at least this many hold, the rest is inconclusive. */
  | {
      readonly kind: 'judged';
      readonly broken: readonly string[];
      /** Requirements that may also be broken, depending on timing. */
      readonly perhaps?: readonly string[];
      readonly hold: number;
      readonly warning?: RegExp;
    };

const judged = (broken: readonly string[], hold: number, warning?: RegExp): ExpectedRun => ({
  kind: 'judged',
  broken,
  hold,
  ...(warning === undefined ? {} : { warning }),
});
const notReady = (message: RegExp): ExpectedRun => ({ kind: 'not-ready', message });

/** Everything that two keys and the permission to write can show. */
const UNDISTURBED = judged([], 65);

/** No body is readable; everything else is correct. */
const UNREADABLE = judged(['error-body-400', 'error-body-401', 'error-body-other', 'json-well-formed'], 30);

/** The harness cannot read any body, which is not the target's fault. */
const BEYOND_HARNESS = judged([], 30);

/** Every answer has the same list as its body. */
const ALWAYS_A_LIST = judged(
  [
    'add-pet-schema',
    'error-body-400',
    'error-body-401',
    'error-body-404',
    'error-body-other',
    'get-pet-schema',
  ],
  50,
);

const RATE_HEADER_VALUES = judged(['rate-limit-value', 'rate-remaining-value', 'rate-reset-value'], 60);

/** Every answer has the same status, so nothing is refused as it should be. */
const NOTHING_REFUSED = [
  'add-answers-201',
  'add-rejects-category-id-range',
  'add-rejects-category-id-type',
  'add-rejects-empty-body',
  'add-rejects-malformed-json',
  'add-rejects-missing-category-id',
  'add-rejects-missing-name',
  'add-rejects-name-type',
  'add-rejects-non-object',
  'add-rejects-status-type',
  'add-rejects-status-value',
  'auth-empty-key',
  'auth-missing-key',
  'auth-near-miss-key',
  'auth-other-scheme',
  'auth-unknown-key',
];

const NOT_THE_SERVICE = /is not the Pet Store Service: GET \/pets answers /;
const STOPPED = /^the target stopped answering: .*, for \d+ s; --resume continues the run$/;
const SPENT =
  /^429 for key free-1 of 60 a minute although the check had quota left, as if another client were using the key/;

const RUNS: Readonly<Record<string, ExpectedRun>> = {
  'closes a connection that it said to keep': judged([], 35),
  'answers the first request of a connection only': judged([], 35),

  'sends a few interim responses first': UNDISTURBED,
  'announces less than it sends': notReady(/answers 200 application\/json, 8 bytes$/),
  // Whether an answer came before its request is a race.
  'responds before the request': {
    kind: 'judged',
    broken: ['rate-headers-on-200'],
    perhaps: [...NOTHING_REFUSED, 'get-pet-schema', 'get-unknown-404'],
    hold: 0,
  },
  'sends two responses for one request': UNDISTURBED,
  'sends garbage after the response': UNDISTURBED,

  'compresses with gzip unasked': UNDISTURBED,
  'says 100 Continue unasked, twice, and answers': UNDISTURBED,
  'compresses with deflate': UNDISTURBED,
  'compresses with deflate without its frame': UNDISTURBED,
  'compresses with brotli': UNDISTURBED,
  'compresses twice': UNDISTURBED,
  'compresses a hundred times': BEYOND_HARNESS,
  'breaks its gzip': UNREADABLE,
  'cuts its gzip short': UNREADABLE,
  'says gzip and sends none': UNREADABLE,
  'uses an unknown coding': BEYOND_HARNESS,
  'sends invalid UTF-8': UNREADABLE,
  'sends half a character at the end': UNREADABLE,
  'begins with a byte order mark': UNREADABLE,
  'sends NUL': UNREADABLE,
  'sends half a surrogate pair': ALWAYS_A_LIST,
  // Three such lists are read, then none.
  'sends 1 MB of animals': judged(['list-each-once', 'list-limit-maximum'], 5),
  'sends 2 MB of one name': judged(['add-pet-schema'], 10),
  'sends 2 MB of escapes': judged(['add-pet-schema', 'list-pet-schema'], 10),
  'nests 100,000 deep': BEYOND_HARNESS,
  'sends __proto__': ALWAYS_A_LIST,
  'sends names twice': ALWAYS_A_LIST,
  'sends 1e400': judged(
    ['add-pet-schema', 'error-body-400', 'error-body-401', 'error-body-other', 'list-pet-schema'],
    40,
  ),
  'sends no body': UNREADABLE,
  'sends half of a JSON text': UNREADABLE,
  'is a web page': notReady(NOT_THE_SERVICE),

  'redirects to another host': notReady(/answers 307 to http:\/\/localhost:\d+\/v1\/pets/),
  'redirects to itself': notReady(/answers 302 to \/v1\/pets/),
  'sets cookies': UNDISTURBED,
  'says to wait a thousand years': notReady(/Retry-After says 31557600000;/),
  'says to wait until a thousand years from now': notReady(/Retry-After says Sat, 21 Nov 3026/),
  'says to wait until the past': notReady(SPENT),
  'says to wait a negative time': notReady(SPENT),
  'says to wait zero seconds, for ever': notReady(SPENT),
  'says to wait in words': notReady(/Retry-After says a little;/),
  'says to wait twice': notReady(/Retry-After says 1, 3600;/),
  'says to wait more digits than a number holds': notReady(/Retry-After says 9{60}…;/),
  'refuses without a word on how long': notReady(SPENT),
  'has a Date in the past': UNDISTURBED,
  'has a Date a thousand years ahead': UNDISTURBED,
  'has a Date twenty seconds ahead': UNDISTURBED,
  'has a Date in local time that it calls GMT': UNDISTURBED,
  'has a Date in an obsolete form': UNDISTURBED,
  'has the Dates of two machines that differ': UNDISTURBED,
  'has an unreadable Date': UNDISTURBED,
  'has no Date': UNDISTURBED,
  'sends rate headers twice, differing': RATE_HEADER_VALUES,
  'sends rate headers that are no numbers': RATE_HEADER_VALUES,
  'sends terminal escapes': judged([...NOTHING_REFUSED, 'error-body-other', 'list-answers-200'], 5),
  'sends a thousand headers': UNDISTURBED,
  'throws the key back in headers': UNDISTURBED,
  'throws the key back in error messages': notReady(/answers 401 to key free-1: is the value of .* right\?/),
  'throws the key back in pieces': notReady(NOT_THE_SERVICE),

  'dies in the middle of the run': judged([], 5, STOPPED),
  'dies and comes back': judged([], 30),
  'loses every tenth connection': judged([], 30),
  // Both hold seven rows in eight at least, whatever is lost.
  'resets every seventh connection': judged([], 60),
  'has a gateway that loses one request in twelve': judged([], 60),
  'becomes slow': UNDISTURBED,
  'falls silent': judged([], 5, STOPPED),
  'becomes a gateway whose server is gone': judged([], 5, STOPPED),
  'becomes another service': judged(
    [],
    15,
    /^a different service has been answering since .* 200 application\/json, 13 bytes$/,
  ),
  "answers with the previous client's response": judged(
    ['add-echoes-name', 'get-returns-requested-id'],
    0,
    /^answers are mixed up between requests: /,
  ),
};

/**
 * The expected result of a run against this target. If the first request gets no complete response, the target is not
 * judged, for the reason that the exchange failed.
 */
export function expectedRun({ name, expected }: HostileTarget): ExpectedRun {
  if (expected.kind === 'failure') {
    const { source } = expected.message;
    return notReady(new RegExp(`(cannot be reached|gives no usable answer to GET /pets): .*(${source})`));
  }
  const run = RUNS[name];
  if (run === undefined) throw new Error(`nothing is expected of a target that ${name}`);
  return run;
}
