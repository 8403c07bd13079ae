/** The services of Express and Fastify; `styles.ts` makes them. */
export const NODE_STYLES = [
  'express-rate-limit',
  'express-rate-limit-by-clock',
  'express-rate-limit-ban-429',
  'express-rate-limit-by-clock-ban-429',
  'rate-limiter-flexible',
  'rate-limiter-flexible-blocking',
  'rate-limiter-flexible-dates',
  'fastify-rate-limit',
  'fastify-rate-limit-by-hand',
  'fastify-rate-limit-by-hand-banning',
  'fastify-rate-limit-continuing',
] as const;
/** The service in Go; `go/main.go`. */
export const GO_STYLE = 'go-x-time-rate';
/** The services in Python, by their workers; `python/pets.py`. */
export const PYTHON_STYLES = ['fastapi-limits', 'fastapi-two-workers'] as const;
export type NodeStyle = (typeof NODE_STYLES)[number];
export type PythonStyle = (typeof PYTHON_STYLES)[number];
export type StyleName = NodeStyle | typeof GO_STYLE | PythonStyle;

interface FrameworkFault {
  readonly name: string;
  readonly breaks: string;
  readonly style: StyleName;
}

/** Typical faults of such services: the requirement that each breaks, and the service that has it. */
export const FAULTS = [
  // Answers in the library's words.
  { name: 'refusal-in-library-words', breaks: 'error-body-429', style: 'express-rate-limit' },
  { name: 'refusal-as-message-object', breaks: 'error-body-429', style: 'express-rate-limit-by-clock' },
  { name: 'refusal-as-plugin-sends-it', breaks: 'error-body-429', style: 'fastify-rate-limit' },
  { name: 'refusal-is-503', breaks: 'rate-refused-429', style: 'rate-limiter-flexible' },
  { name: 'errors-as-express-sends-them', breaks: 'error-body-400', style: 'express-rate-limit' },
  { name: 'errors-as-fastify-sends-them', breaks: 'error-body-400', style: 'fastify-rate-limit-by-hand' },
  { name: 'not-found-as-text', breaks: 'error-body-404', style: 'rate-limiter-flexible-blocking' },
  { name: 'invalid-is-422', breaks: 'add-rejects-missing-name', style: 'express-rate-limit-by-clock' },
  { name: 'created-is-200', breaks: 'add-answers-201', style: 'fastify-rate-limit-by-hand' },
  { name: 'list-in-data', breaks: 'list-answers-200', style: 'rate-limiter-flexible' },
  { name: 'unknown-is-null', breaks: 'get-unknown-404', style: 'fastify-rate-limit' },
  { name: 'ban-as-text', breaks: 'ban-error-body', style: 'express-rate-limit' },
  // Rate headers.
  { name: 'draft-headers-only', breaks: 'rate-headers-on-200', style: 'express-rate-limit' },
  { name: 'limiter-behind-auth', breaks: 'rate-headers-on-401', style: 'express-rate-limit-by-clock' },
  { name: 'limiter-behind-auth-in-fastify', breaks: 'rate-headers-on-401', style: 'fastify-rate-limit' },
  { name: 'limiter-behind-validation', breaks: 'rate-headers-on-400', style: 'fastify-rate-limit' },
  { name: 'headers-where-refused-only', breaks: 'rate-headers-on-200', style: 'fastify-rate-limit' },
  { name: 'headers-where-admitted-only', breaks: 'rate-headers-on-429', style: 'rate-limiter-flexible' },
  { name: 'ban-without-rate-headers', breaks: 'ban-rate-headers', style: 'express-rate-limit' },
  { name: 'limit-of-the-hour', breaks: 'rate-limit-value', style: 'rate-limiter-flexible' },
  { name: 'remaining-below-zero', breaks: 'rate-remaining-value', style: 'rate-limiter-flexible' },
  { name: 'reset-as-plugin-sends-it', breaks: 'rate-reset-value', style: 'fastify-rate-limit' },
  { name: 'reset-in-milliseconds', breaks: 'rate-reset-value', style: 'rate-limiter-flexible-blocking' },
  { name: 'reset-as-date', breaks: 'rate-reset-value', style: 'rate-limiter-flexible' },
  { name: 'retry-after-forgotten', breaks: 'retry-after-present', style: 'rate-limiter-flexible' },
  { name: 'retry-after-one-second', breaks: 'retry-after-honest', style: 'rate-limiter-flexible' },
  // What is counted, and for which caller.
  { name: 'bucket-per-route', breaks: 'rate-minute-free', style: 'express-rate-limit' },
  { name: 'bucket-per-address', breaks: 'rate-keys-apart', style: 'express-rate-limit' },
  { name: 'one-limit-for-all', breaks: 'rate-minute-pro', style: 'rate-limiter-flexible' },
  { name: 'one-too-few', breaks: 'rate-minute-free', style: 'rate-limiter-flexible' },
  { name: 'two-processes', breaks: 'rate-minute-free', style: 'rate-limiter-flexible' },
  { name: 'looked-at-then-counted', breaks: 'rate-concurrent', style: 'rate-limiter-flexible' },
  { name: 'failures-not-counted', breaks: 'rate-remaining-falls', style: 'express-rate-limit' },
  { name: 'additions-unlimited', breaks: 'rate-headers-on-201', style: 'express-rate-limit' },
  { name: 'window-of-half-a-minute', breaks: 'rate-minute-free', style: 'express-rate-limit' },
  // Bans.
  { name: 'ban-at-first-refusal', breaks: 'ban-spares-polite', style: 'express-rate-limit' },
  { name: 'ban-on-everybody', breaks: 'ban-other-keys', style: 'express-rate-limit' },
  { name: 'ban-for-good', breaks: 'ban-ends', style: 'express-rate-limit' },
  { name: 'ban-longer-than-told', breaks: 'ban-ends-as-told', style: 'express-rate-limit' },
  // Keys.
  { name: 'reads-are-public', breaks: 'auth-missing-key', style: 'fastify-rate-limit-by-hand' },
  { name: 'any-scheme', breaks: 'auth-other-scheme', style: 'express-rate-limit-by-clock' },
  { name: 'key-in-any-case', breaks: 'auth-near-miss-key', style: 'rate-limiter-flexible' },
  // Animals.
  { name: 'default-limit-of-10', breaks: 'list-limit-default', style: 'express-rate-limit-by-clock' },
  { name: 'limit-cut-at-25', breaks: 'list-limit-fills', style: 'rate-limiter-flexible' },
  { name: 'filter-behind-limit', breaks: 'list-filter-before-limit', style: 'fastify-rate-limit' },
  { name: 'name-trimmed', breaks: 'add-echoes-name', style: 'rate-limiter-flexible' },
  { name: 'bodies-as-express-reads-them', breaks: 'add-echoes-category-id', style: 'express-rate-limit' },
  { name: 'bodies-as-fastify-reads-them', breaks: 'add-echoes-category-id', style: 'fastify-rate-limit' },
  { name: 'created-by-a-poor-schema', breaks: 'add-echoes-status', style: 'fastify-rate-limit-by-hand' },
  { name: 'id-of-client-taken', breaks: 'pet-id-assigned-by-service', style: 'express-rate-limit-by-clock' },
  { name: 'id-from-the-count', breaks: 'pet-id-unique', style: 'rate-limiter-flexible' },
  { name: 'id-of-the-clock', breaks: 'pet-id-unique', style: 'fastify-rate-limit' },
  {
    name: 'category-as-text-taken',
    breaks: 'add-rejects-category-id-type',
    style: 'express-rate-limit',
  },
  { name: 'any-status-taken', breaks: 'add-rejects-status-value', style: 'rate-limiter-flexible' },
  { name: 'stored-before-validated', breaks: 'add-rejected-stores-nothing', style: 'fastify-rate-limit' },
  { name: 'id-read-loosely', breaks: 'get-malformed-id-refused', style: 'express-rate-limit' },
  { name: 'deprecated-until-2031', breaks: 'sunset-header-agrees', style: 'express-rate-limit' },
  // Typical mistakes in Go.
  { name: 'go-burst-of-one', breaks: 'rate-minute-free', style: GO_STYLE },
  { name: 'go-burst-of-a-quarter', breaks: 'rate-minute-free', style: GO_STYLE },
  { name: 'go-half-the-refill', breaks: 'rate-next-window', style: GO_STYLE },
  { name: 'go-errors-as-text', breaks: 'error-body-401', style: GO_STYLE },
  { name: 'go-type-guessed', breaks: 'media-type-json', style: GO_STYLE },
  { name: 'go-names-in-any-case', breaks: 'add-rejects-missing-name', style: GO_STYLE },
  { name: 'go-missing-is-zero', breaks: 'add-rejects-missing-name', style: GO_STYLE },
  { name: 'go-decoder-reads-one-value', breaks: 'add-rejects-malformed-json', style: GO_STYLE },
  { name: 'go-id-decoded-too', breaks: 'pet-id-assigned-by-service', style: GO_STYLE },
  { name: 'go-status-without-omitempty', breaks: 'add-pet-schema', style: GO_STYLE },
  // Typical mistakes with FastAPI.
  { name: 'python-invalid-is-422', breaks: 'add-rejects-missing-name', style: 'fastapi-limits' },
  { name: 'python-types-coerced', breaks: 'add-rejects-category-id-type', style: 'fastapi-limits' },
  { name: 'python-errors-as-fastapi-sends-them', breaks: 'error-body-404', style: 'fastapi-limits' },
  { name: 'python-errors-without-rate-headers', breaks: 'rate-headers-on-404', style: 'fastapi-limits' },
  { name: 'python-refusal-in-library-words', breaks: 'error-body-429', style: 'fastapi-limits' },
  { name: 'python-missing-key-403', breaks: 'auth-missing-key', style: 'fastapi-limits' },
  { name: 'python-filter-behind-limit', breaks: 'list-filter-before-limit', style: 'fastapi-limits' },
] as const satisfies readonly FrameworkFault[];

/** Whether a service has this fault. */
export type Is = (fault: (typeof FAULTS)[number]['name']) => boolean;
