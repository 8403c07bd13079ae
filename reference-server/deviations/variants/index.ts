import * as animals from './animals.ts';
import { SPENT_DAYS } from './days.ts';
import * as limits from './limits.ts';
import * as requests from './requests.ts';
import * as transport from './transport.ts';
import { type Variant, type VariantTable, variantsOf } from './variant.ts';

// biome-ignore format: a table, a few lines for each variant
const TABLE: VariantTable = {
  'oldest-first': [
    animals.idsFromOne, animals.oldestFirst, requests.idsAboveZero, requests.linkedPages,
    animals.statusWhenOmitted('available'), transport.lowerCaseHeaders],
  'random-ids': [
    animals.randomIds, animals.extraFields, animals.shuffledOrder, requests.malformedIdRefused,
    transport.charsetParameter],
  'largest-ids': [
    animals.idsFromTheTop, animals.unknownFieldsKept, requests.limitClamped, requests.unknownStatusEmpty,
    transport.gzipped],
  'negative-ids': [
    animals.negativeIds, requests.nullStatusOmitted, animals.statusWhenOmitted('pending'),
    transport.chunked, transport.upperCaseMediaType],
  'windows-by-clock': [
    limits.windowsByClock, limits.retryAfterDate, requests.limitDefaulted, requests.wordLimitDefaulted,
    requests.unknownStatusUnfiltered, requests.otherMediaTypeRefused400],
  'sliding-log': [
    limits.slidingMinute, requests.nullStatusOmitted, limits.banOf(3, 20),
    limits.banAnsweredWith(403, true), transport.chunked],
  'token-bucket': [limits.bucketMinute, limits.noBan, transport.connectionClosed],
  'bucket-by-the-second': [limits.bucketMinuteBySecond, transport.latency(0, 30)],
  'milliseconds': [
    limits.retryAfterMilliseconds, limits.banOf(10, 180), limits.banAnsweredWith(401, false),
    transport.noAnnouncement],
  'headers-of-the-day': [limits.headersOfTheDay, transport.deprecationOnly, requests.wordyErrors],
  'headers-of-both': [
    limits.headersOfBoth, limits.strangersSeeFreePlan, transport.sunsetOnly, limits.generousRetryAfter],
  'slow-and-uneven': [transport.latency(5, 60), animals.randomSample, animals.randomIds],
  'in-two-halves': [transport.inTwoHalves, animals.unusualJson],
  'eventually-visible': [animals.visibleAfter(1500), animals.idsFromOne],
  'clock-ahead': [transport.clockOffBy(300), limits.retryAfterDate, limits.strangersSeeFreePlan],
  'old-dates': [transport.oldDates, limits.windowsByClock],
  'clock-behind': [transport.clockOffBy(-300), transport.noDate],
  'strict': [
    animals.unknownCategoryRefused, animals.unknownFieldsRefused(400), animals.asciiNamesOnly,
    animals.namesUpTo(40, 400), requests.malformedIdRefused,
    transport.asciiHeadersOnly],
  'lenient': [
    requests.limitRangeIgnored, requests.wordLimitDefaulted, requests.unknownStatusUnfiltered,
    requests.anyMediaTypeRead, requests.nullStatusOmitted, requests.storeOrders,
    animals.statusWhenOmitted('sold')],
  'one-key-reads-only': [requests.readOnly('free-2'), animals.uniqueNames, animals.idsFromOne],
  'statuses-change': [animals.statusesChange],
  'own-animals-only': [animals.ownAnimalsOnly],
  'after-the-removal': [transport.afterTheRemoval, animals.idsFromOne],
  'long-names-413': [
    animals.namesUpTo(200, 413), animals.unknownFieldsRefused(422), limits.banOf(5, 45),
    limits.banAnsweredWith(403, false)],
  'bans-at-once': [limits.banOf(1, 30), limits.banAnsweredWith(403, false), transport.latency(0, 30)],
  'refusals-counted': [limits.refusalsCounted, limits.noBan, transport.latency(0, 30)],
  'sliding-counter': [limits.countedMinute, limits.retryAfterDuration],
  'counter-until-whole': [limits.countedUntilWhole],
  'bans-bursts': [limits.slidingMinute, limits.banOf(3, 90), transport.latency(0, 30)],
  'everything-else': [
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
