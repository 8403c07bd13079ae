import t from 'tap';
import { reading } from '../limits/testing/simulated-limits.ts';
import { answered } from '../wire/testing/answered.ts';
import { decodeOutcome, encodeOutcome, NotStored } from './outcomes.ts';
import { Inconclusive } from './reason.ts';
import { testKey } from './testing/test-run.ts';

const exchange = answered();
const taken = reading();
const key = testKey();
const named = { exchange: () => exchange, reading: () => taken, key: () => key };
const kept: string[] = [];
const encode = (value: unknown) => encodeOutcome(value, ({ id }) => kept.push(id));

t.test('an outcome comes back from JSON as it was', (t) => {
  const outcome = {
    key,
    window: { admitted: [taken], refusal: exchange },
    ids: [2n ** 63n - 1n, -1n],
    byStatus: new Map([['sold', { exchange, count: 3 }]]),
    missing: undefined,
    tried: [new Inconclusive({ kind: 'lost', what: 'no answer' }, [exchange])],
    list: [undefined, null, 'text', 1.5, true],
  };
  const text = JSON.stringify(encode(outcome));
  const { missing: _, ...present } = outcome;
  t.strictSame(decodeOutcome(JSON.parse(text), named), present, 'without what is undefined');
  t.strictSame(kept, [exchange.id, exchange.id, exchange.id], 'what it names is kept');
  t.notMatch(text, key.value, 'a key stands by its name');
  t.ok(text.length < 900, `${text.length}`);
  t.end();
});

t.test('exchanges, readings and keys are the same afterwards, anything else is a copy', (t) => {
  const outcome = { key, exchange, taken, other: {} };
  const decoded = decodeOutcome(encode(outcome), named);
  t.match(decoded, outcome);
  t.equal(Object(decoded).exchange, exchange);
  t.equal(Object(decoded).taken, taken);
  t.equal(Object(decoded).key, key);
  t.not(Object(decoded).other, outcome.other);
  t.end();
});

t.test('what stands by a name that is not there is said', (t) => {
  const nothing = { exchange: () => undefined, reading: () => undefined, key: () => undefined };
  for (const [outcome, message] of [
    [exchange, 'exchange test#1 is not on record'],
    [[taken], `reading ${taken.id} is not on record`],
    [{ key }, 'key free-1 is not on record'],
  ] as const)
    t.throws(() => decodeOutcome(encode(outcome), nothing), new NotStored(message));
  t.end();
});
