/** Section 8: what the answers to a key that went on over its limit show. */
import t from 'tap';
import { SECOND } from '../../limits/time.ts';
import { testKey, testRun } from '../../run/testing/test-run.ts';
import { banMeasured, exchangeAt, PER_MINUTE } from '../minute/testing/measured.ts';
import { type BanMeasurement, readBan } from './reading.ts';

const key = testKey({ name: 'free-ban', limits: { perMinute: PER_MINUTE, perDay: 1000 } });
const other = testKey({ name: 'pro-1', plan: 'pro' });
const { trace } = testRun().run;

const limit = (id: string, seconds: number) => exchangeAt(id, seconds, { retryAfter: 60 - seconds });
const forbidden = (id: string, seconds: number) =>
  exchangeAt(id, seconds, { status: 403, code: 'banned', retryAfter: 20 });
const served = (id: string, seconds: number) => exchangeAt(id, seconds, { status: 200 });

const read = (given: Partial<BanMeasurement>) => readBan(banMeasured(key, given), trace);
const ids = (exchanges: readonly { readonly id: string }[]) => exchanges.map(({ id }) => id);

t.test('what is refused otherwise than at first is the ban’s', async (t) => {
  const { ban, bans, refusals, first } = read({
    refused: [limit('1', 1), limit('2', 1)],
    rounds: [[limit('3', 2)], [forbidden('4', 3), limit('5', 3), forbidden('6', 3)]],
    later: [forbidden('7', 60), served('8', 80)],
  });
  t.equal(first?.id, '1');
  t.strictSame(ids(refusals), ['1', '2', '3', '5']);
  t.strictSame(ids(bans), ['4', '6']);
  t.strictSame(ids(ban?.answers ?? []), ['4', '6', '7']);
  t.match(ban, { answer: { id: '4' }, after: 5, atEnd: { id: '7' }, servedAgain: { id: '8' } });
  t.equal(ban?.toldEnd, (bans[1]?.receivedAt ?? 0) + 20 * SECOND);
});

t.test('the limit’s refusal is a 429, even where a ban’s answer overtook it', async (t) => {
  const inBurst = read({ refused: [forbidden('1', 1), limit('2', 1)] });
  t.match(inBurst, { first: { id: '2' }, ban: { answer: { id: '1' } } });
  const inRound = read({ rounds: [[served('1', 1)], [forbidden('2', 2), limit('3', 2)]] });
  t.match(inRound, { first: { id: '3' }, ban: { answer: { id: '2' } } });
});

t.test('a ban that is answered like the limit shows when the window is over', async (t) => {
  const refused = [limit('1', 1)];
  const late = read({ refused, later: [limit('2', 63), served('3', 80)] });
  t.match(late.ban, { answer: { id: '2' }, after: 1, atEnd: { id: '3' } }, 'it tells when it ends');
  const untold = exchangeAt('2', 63, {});
  t.match(read({ refused, later: [untold, served('3', 80)] }).ban, {
    answer: { id: '2' },
    toldEnd: undefined,
    atEnd: { id: '2' },
  });
  t.ok(late.enough);
  t.match(read({ refused, later: [served('2', 63)] }), { ban: undefined, enough: false });
});

t.test('quota that is given back has a first refusal of its own', async (t) => {
  const again = exchangeAt('3', 70, { retryAfter: 50, reset: 120 });
  const { first, bans } = read({
    refused: [limit('1', 59)],
    rounds: [[exchangeAt('2', 65, { status: 200, reset: 120 })], [again]],
  });
  t.equal(first?.id, '3');
  t.strictSame(bans, []);
});

t.test('a ban’s answer that overtakes the limit’s leaves those of a new window to the limit', async (t) => {
  const late = exchangeAt('4', 66, { retryAfter: 54, reset: 120 });
  const untold = exchangeAt('3', 65, { status: 403, code: 'banned' });
  const { bans, ban } = read({
    refused: [limit('1', 59)],
    rounds: [[exchangeAt('2', 65, { status: 200, reset: 120 }), untold, late]],
  });
  t.strictSame(ids(bans), ['3']);
  t.equal(ban?.toldEnd, undefined);
});

t.test('another key is banned where it gets what the limit does not answer', async (t) => {
  const others = [
    { key: other, exchange: served('1', 62) },
    { key: other, exchange: limit('2', 62) },
    { key: other, exchange: forbidden('3', 62) },
  ];
  t.strictSame(
    read({ refused: [limit('0', 1)], others }).others.map(({ banned }) => banned),
    [false, false, true],
  );
});

t.test('where nothing was refused there is no ban', async (t) => {
  t.match(read({ rounds: [[served('1', 1)]], later: [served('2', 62)] }), {
    first: undefined,
    ban: undefined,
    refusals: { length: 0 },
    enough: false,
  });
});
