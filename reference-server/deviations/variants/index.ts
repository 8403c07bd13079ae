import * as animals from './animals.ts';
import { SPENT_DAYS } from './days.ts';
import * as limits from './limits.ts';
import * as requests from './requests.ts';
import * as transport from './transport.ts';
import { type Variant, type VariantTable, variantsOf } from './variant.ts';

// biome-ignore format: a table, a few lines for each variant
const TABLE: VariantTable = {
  'oldest-first': [
    'A classic: ids from 1, oldest first, pages in a Link header, available unless said otherwise.',
    animals.idsFromOne, animals.oldestFirst, requests.idsAboveZero, requests.linkedPages, animals.statusWhenOmitted('available'),
    transport.lowerCaseHeaders],
  'random-ids': ['Random ids, fields of its own, and another order in every response.',
    animals.randomIds, animals.extraFields, animals.shuffledOrder, requests.malformedIdRefused,
    transport.charsetParameter],
  'largest-ids': [
    'Ids that count down from 2^63 - 1, and compressed bodies; keeps fields that it does not know.',
    animals.idsFromTheTop, animals.unknownFieldsKept, requests.limitClamped, requests.unknownStatusEmpty,
    transport.gzipped],
  'negative-ids': ['Ids that count up from -2^63; bodies in small chunks.',
    animals.negativeIds, requests.nullStatusOmitted, animals.statusWhenOmitted('pending'), transport.chunked,
    transport.upperCaseMediaType],
  'windows-by-clock': ['Windows that begin with the clock; Retry-After is a date.',
    limits.windowsByClock, limits.retryAfterDate, requests.limitDefaulted, requests.wordLimitDefaulted,
    requests.unknownStatusUnfiltered, requests.otherMediaTypeRefused400],
  'sliding-log': ['A minute that looks back; a short ban after three refusals, as 403.',
    limits.slidingMinute, requests.nullStatusOmitted, limits.banOf(3, 20), limits.banAnsweredWith(403, true),
    transport.chunked],
  'token-bucket': ['A bucket that refills evenly; never bans; a connection for each request.',
    limits.bucketMinute, limits.noBan, transport.connectionClosed],
  'bucket-by-the-second': ['A bucket that is given what a second brings once a second.',
    limits.bucketMinuteBySecond, transport.latency(0, 30)],
  'milliseconds': [
    'Retry-After in milliseconds; a ban is a 401 for three minutes that does not say so; announces nothing.',
    limits.retryAfterMilliseconds, limits.banOf(10, 180), limits.banAnsweredWith(401, false),
    transport.noAnnouncement],
  'headers-of-the-day': ['The rate headers describe the day.',
    limits.headersOfTheDay, transport.deprecationOnly, requests.wordyErrors],
  'headers-of-both': [
    'The rate headers describe the minute, further ones the day; strangers are shown the Free plan.',
    limits.headersOfBoth, limits.strangersSeeFreePlan, transport.sunsetOnly, limits.generousRetryAfter],
  'slow-and-uneven': ['Answers take 5 to 60 milliseconds, and other animals are listed in every response.',
    transport.latency(5, 60), animals.randomSample, animals.randomIds],
  'in-two-halves': ['The second half of every body is late.', transport.inTwoHalves, animals.unusualJson],
  'eventually-visible': ['An animal that was added is served after a second and a half.',
    animals.visibleAfter(1500), animals.idsFromOne],
  'clock-ahead': ['Its clock is five minutes ahead.',
    transport.clockOffBy(300), limits.retryAfterDate, limits.strangersSeeFreePlan],
  'old-dates': ['Every seventh Date is 42 seconds old.', transport.oldDates, limits.windowsByClock],
  'clock-behind': ['Its clock is five minutes behind, and it sends no Date.',
    transport.clockOffBy(-300), transport.noDate],
  'strict': ['Refuses unknown categories, unknown fields, names beyond ASCII or of more than 40 characters.',
    animals.unknownCategoryRefused, animals.unknownFieldsRefused(400), animals.asciiNamesOnly,
    animals.namesUpTo(40, 400), requests.malformedIdRefused],
  'lenient': ['Takes any limit and any media type, and has store orders.',
    requests.limitRangeIgnored, requests.wordLimitDefaulted, requests.unknownStatusUnfiltered,
    requests.anyMediaTypeRead, requests.nullStatusOmitted, requests.storeOrders, animals.statusWhenOmitted('sold')],
  'one-key-reads-only': ['Keys have permissions: free-2 may not add animals. No two animals have one name.',
    requests.readOnly('free-2'), animals.uniqueNames, animals.idsFromOne],
  'statuses-change': ['Pending animals are approved after a while, and some that are available are sold.',
    animals.statusesChange],
  'own-animals-only': ['A key sees the animals that were there before, and those that it added itself.',
    animals.ownAnimalsOnly],
  'after-the-removal': ['The date is 4 January 2031.', transport.afterTheRemoval, animals.idsFromOne],
  'long-names-413': ['Refuses long names with 413, unknown fields with 422; a ban is a 403 that does not say when it ends.',
    animals.namesUpTo(200, 413), animals.unknownFieldsRefused(422), limits.banOf(5, 45), limits.banAnsweredWith(403, false)],
  'bans-at-once': [
    'The second request over the limit is banned already, as a 403 that does not say when it ends.',
    limits.banOf(1, 30), limits.banAnsweredWith(403, false), transport.latency(0, 30)],
  'refusals-counted': [
    'A minute that looks back, over refused requests too, so that each makes the wait longer; never bans.',
    limits.refusalsCounted, limits.noBan, transport.latency(0, 30)],
  'sliding-counter': [
    'A minute that looks back by the share of the window before that it still holds; Retry-After is a duration.',
    limits.countedMinute, limits.retryAfterDuration],
  'counter-until-whole': ['A sliding counter whose Reset is when all is surely given back, up to two minutes ahead.',
    limits.countedUntilWhole],
  'bans-bursts': [
    'A few requests too many, in flight together, are a long ban already, answered 429 like the limit.',
    limits.slidingMinute, limits.banOf(3, 90), transport.latency(0, 30)],
  'everything-else': ['As many unusual answers as one server can have.',
    limits.bucketMinute, limits.headersOfBoth, limits.retryAfterDate, limits.banOf(2, 25),
    limits.banAnsweredWith(401, true), animals.randomIds, animals.shuffledOrder, animals.unknownFieldsKept,
    animals.extraFields, requests.limitClamped, requests.malformedIdRefused, requests.wordyErrors,
    transport.clockOffBy(-300), transport.lowerCaseHeaders, transport.charsetParameter,
    transport.latency(0, 15), transport.gzipped, transport.sunsetOnly],
};

/** Every conforming personality that the server can have instead of its usual one. */
export const VARIANTS: readonly Variant[] = variantsOf(TABLE);

/** What a server can be started with. */
export const EVERY_VARIANT: readonly Variant[] = [...VARIANTS, ...SPENT_DAYS];
