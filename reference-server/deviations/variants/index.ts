import type { Deviation, DeviationTable } from '../deviation.ts';
import { ANIMAL_ANSWERS } from './animals.ts';
import { LIMIT_ANSWERS } from './limits.ts';
import { REQUEST_ANSWERS } from './requests.ts';
import { TRANSPORT_ANSWERS } from './transport.ts';

/** A conforming server that answers what the document leaves open in its own way. */
export interface Variant {
  readonly name: string;
  /** Its answers where they are not the usual ones: question to answer. */
  readonly answers: Readonly<Record<string, string>>;
  readonly deviation: Deviation;
}

/**
 * Ways to answer, by question and answer. The question is the id in the contract's list of gaps, or a name of our own where
 * it is not in that list; the answer is called as that list calls it. In parentheses is what the list does not know.
 */
const ANSWERS: DeviationTable = {
  ...ANIMAL_ANSWERS,
  ...REQUEST_ANSWERS,
  ...LIMIT_ANSWERS,
  ...TRANSPORT_ANSWERS,
};

/** Variants by name: its answer to each question. */
type VariantTable = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** The variants of a table, in its order. */
const variantsOf = (table: VariantTable): Variant[] =>
  Object.entries(table).map(([name, chosen]) => {
    const deviation = Object.entries(chosen).map(([question, answer]) => {
      const way = ANSWERS[question]?.[answer];
      if (way === undefined) throw new Error(`no server answers ${question} so: ${answer}`);
      return way;
    });
    const answers = Object.entries(chosen).map(([question, answer]) => [
      question,
      answer.replace(/ \(.*\)$/, ''),
    ]);
    return { name, answers: Object.fromEntries(answers), deviation };
  });

// biome-ignore format: a table, a few lines for each variant
const TABLE: VariantTable = {
  'oldest-first': {
    'id-assignment': 'ascending', 'list-order': 'oldest-first', 'malformed-id': 'rejected-400 (and below 1)',
    'pagination-mechanism': 'link-header', 'status-when-omitted': 'available', 'header-case': 'lower' },
  'random-ids': {
    'id-assignment': 'other (random)', 'extra-response-fields': 'createdAt,tags,_links',
    'list-order': 'other (shuffled)', 'malformed-id': 'rejected-400', 'media-type-parameter': 'charset=utf-8',
    'other-paths': 'html, uncounted' },
  'largest-ids': {
    'id-assignment': 'other (from the top)', 'unknown-fields': 'kept', 'limit-out-of-range': 'clamped',
    'unknown-status-filter': 'empty-list', 'content-coding': 'gzip' },
  'negative-ids': {
    'id-assignment': 'other (negative)', 'null-status': 'taken-as-omitted', 'status-when-omitted': 'pending',
    'transfer-coding': 'chunked', 'media-type-parameter': 'Application/JSON;charset="UTF-8"' },
  'windows-by-clock': {
    'rate-window-kind': 'fixed', 'retry-after-format': 'http-date', 'limit-out-of-range': 'defaulted',
    'limit-not-a-number': 'defaulted', 'unknown-status-filter': 'unfiltered',
    'unsupported-media-type': 'rejected-400' },
  'sliding-log': {
    'rate-window-kind': 'refilling (log)', 'null-status': 'taken-as-omitted', 'ban-threshold': '3 (20 s)',
    'ban-answer': 'banned-403', 'transfer-coding': 'chunked' },
  'token-bucket': {
    'rate-window-kind': 'refilling (bucket)', 'ban-answer': 'no-ban-seen', connection: 'close' },
  'bucket-in-steps': { 'rate-window-kind': 'refilling (bucket by ten seconds)', latency: '0-30-ms' },
  'milliseconds': {
    'retry-after-format': 'milliseconds', 'ban-threshold': '10 (180 s)',
    'ban-answer': 'banned-401 (until untold)', 'deprecation-announcement': 'none' },
  'remaining-when-answered': { 'rate-remaining-moment': 'answered' },
  'headers-of-the-day': {
    'rate-headers-window': 'day', 'deprecation-announcement': 'deprecation',
    'error-codes': 'upper-case, with details' },
  'headers-of-both': {
    'rate-headers-window': 'both', 'quota-without-key': 'free-plan', 'deprecation-announcement': 'sunset',
    'retry-after-margin': 'two-seconds' },
  'slow-and-uneven': { latency: '5-60-ms', 'list-order': 'other (sampled)', 'id-assignment': 'other (random)' },
  'in-two-halves': { delivery: 'in-two-halves', 'json-notation': 'indented-and-escaped' },
  'eventually-visible': { 'added-visibility': 'later', 'id-assignment': 'ascending' },
  'clock-ahead': {
    clock: '300-seconds', 'retry-after-format': 'http-date', 'quota-without-key': 'free-plan' },
  'old-dates': { 'date-header': 'old-at-times', 'rate-window-kind': 'fixed' },
  'clock-behind': { clock: '-300-seconds', 'date-header': 'none' },
  'strict': {
    'category-existence': 'rejected-400', 'unknown-fields': 'rejected-400',
    'name-character-set': 'rejected-400', 'name-length': 'rejected-400 (from 41)',
    'malformed-id': 'rejected-400', 'headers-beyond-ascii': 'closes' },
  'lenient': {
    'limit-out-of-range': 'ignored', 'limit-not-a-number': 'defaulted', 'unknown-status-filter': 'unfiltered',
    'unsupported-media-type': 'accepted', 'null-status': 'taken-as-omitted', 'store-orders': 'present',
    'status-when-omitted': 'sold' },
  'one-key-reads-only': {
    'permissions-of-keys': 'free-2-reads-only', 'name-uniqueness': 'rejected-400',
    'id-assignment': 'ascending' },
  'statuses-change': { 'status-transitions': 'available to sold, pending to available' },
  'own-animals-only': { 'permissions-of-keys': 'own-animals' },
  'after-the-removal': { clock: 'after-the-removal', 'id-assignment': 'ascending' },
  'long-names-413': {
    'name-length': 'rejected-413 (from 201)', 'unknown-fields': 'rejected-422', 'ban-threshold': '5 (45 s)',
    'ban-answer': 'banned-403 (until untold)' },
  'bans-at-once': {
    'ban-threshold': '1 (30 s)', 'ban-answer': 'banned-403 (until untold)', latency: '0-30-ms' },
  'refusals-counted': {
    'rate-window-kind': 'refilling (log of all)', 'ban-answer': 'no-ban-seen', latency: '0-30-ms' },
  'sliding-counter': { 'rate-window-kind': 'refilling (counter)', 'retry-after-format': 'duration' },
  'sliding-slots': { 'rate-window-kind': 'refilling (slots)' },
  'counter-until-whole': { 'rate-window-kind': 'refilling (counter, told until whole)' },
  'bans-bursts': {
    'rate-window-kind': 'refilling (log)', 'ban-threshold': '3 (90 s)', latency: '0-30-ms' },
  'everything-else': {
    'rate-window-kind': 'refilling (bucket by the second)', 'rate-headers-window': 'both',
    'retry-after-format': 'http-date', 'ban-threshold': '2 (25 s)', 'ban-answer': 'banned-401', 'id-assignment': 'other (random)',
    'list-order': 'other (shuffled)', 'unknown-fields': 'kept', 'extra-response-fields': 'createdAt,tags,_links',
    'limit-out-of-range': 'clamped', 'malformed-id': 'rejected-400', 'error-codes': 'upper-case, with details',
    clock: '-300-seconds', 'header-case': 'lower', 'media-type-parameter': 'charset=utf-8',
    latency: '0-15-ms', 'content-coding': 'gzip', 'deprecation-announcement': 'sunset' },
};

/** Every conforming server that there is beside the usual one. */
export const VARIANTS: readonly Variant[] = variantsOf(TABLE);

/** Kinds of days and limiters. */
// biome-ignore format: a table, a line for each kind
const DAYS: VariantTable = {
  fixed: {},
  utc: { 'day-kind': 'utc' },
  rolling: { 'day-kind': 'rolling' },
  'under-minute-headers': { 'rate-headers-window': 'minute' },
  'under-day-headers': { 'rate-headers-window': 'day' },
  'with-bucket': { 'rate-window-kind': 'refilling (bucket)', 'day-kind': 'utc' },
  'with-log': { 'rate-window-kind': 'refilling (log)', 'day-kind': 'rolling' },
  'with-counter': { 'rate-window-kind': 'refilling (counter)', 'day-kind': 'utc' },
};

/**
 * Each kind of day and limiter with a share of the day used when the server starts: a key's day is spent after a few runs.
 * Profiles for them do not say that their keys are unused today. A day of a few minutes is any of them with an
 * Enterprise plan such as 600 a minute and 700 a day.
 */
export const SPENT_DAYS: readonly Variant[] = Object.entries(DAYS).flatMap(([kind, answers]) =>
  Object.keys(LIMIT_ANSWERS['day-used']).flatMap((used) =>
    variantsOf({ [`day-${kind}-${used.replace('percent', 'used')}`]: { ...answers, 'day-used': used } }),
  ),
);

/** One key's day is used, and another key's is not. */
export const SPENT_OF_ONE: readonly Variant[] = variantsOf({
  ...Object.fromEntries(
    Object.keys(LIMIT_ANSWERS['day-used-of-one']).map((used) => [
      `day-of-one-${used.replace('percent', 'used')}`,
      { 'day-used-of-one': used },
    ]),
  ),
  'own-animals-day-of-one-93-used': {
    'permissions-of-keys': 'own-animals',
    'day-used-of-one': '93-percent',
  },
});

/** What a server can be started with. */
export const EVERY_VARIANT: readonly Variant[] = [...VARIANTS, ...SPENT_DAYS, ...SPENT_OF_ONE];
