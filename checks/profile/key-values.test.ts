import t from 'tap';
import { keyValues } from './key-values.ts';
import type { ProfileKey } from './target-profile.ts';

const key = (name: string, env: string): ProfileKey => ({
  name,
  env,
  plan: 'free',
  roles: ['functional'],
  unusedToday: false,
});

const profile = { keys: [key('free-1', 'FREE_KEY'), key('pro-1', 'PRO_KEY')] };

t.test('the values by name of the key', (t) => {
  const read = keyValues(profile, { FREE_KEY: 'free-secret', PRO_KEY: 'pro-secret~+/=', OTHER: 'x' });
  t.ok(read.ok);
  t.strictSame(read.ok && [...read.values], [
    ['free-1', 'free-secret'],
    ['pro-1', 'pro-secret~+/='],
  ]);
  t.end();
});

t.test('every value that cannot be sent is a problem that names key and variable, not the value', (t) => {
  const cases: [value: string | undefined, message: RegExp][] = [
    [undefined, /is not set/],
    ['', /is empty/],
    ['canary key', /header cannot carry/],
    ['canary\n', /header cannot carry/],
    ['canary\r\nX-Evil: 1', /header cannot carry/],
    ['canary\u0000', /header cannot carry/],
    ['canaryä', /header cannot carry/],
    ['canary'.repeat(1000), /longer than 4096/],
    ['can', /fewer than 4 characters, or fewer than 8 .* digits: .*ordinary word or number/],
    ['1234567', /fewer than 8 and all of them digits/],
    ['free-secret', /same key as free-1/],
  ];
  for (const [value, message] of cases) {
    const read = keyValues(profile, { FREE_KEY: 'free-secret', PRO_KEY: value });
    t.match(read, { ok: false, problems: [{ message }] }, String(message));
    t.match(read, { problems: [{ message: /PRO_KEY.*pro-1/ }] });
    t.notOk(/can|1234|free-secret/.test(JSON.stringify(read).replace('cannot', '')), JSON.stringify(read));
  }
  t.end();
});

t.test('a key is as long as a header carries, and not so short that a report may hold it by chance', (t) => {
  const taken = (value: string) => keyValues({ keys: [key('pro-1', 'PRO_KEY')] }, { PRO_KEY: value }).ok;
  for (const value of ['k'.repeat(4096), 'k-12', '12-k', '12345678']) t.equal(taken(value), true, value);
  for (const value of ['k'.repeat(4097), 'k-1', '1234567']) t.equal(taken(value), false, value);
  t.end();
});

t.test('what to do about each is said', (t) => {
  const remedy = (value: string | undefined) => {
    const read = keyValues(profile, { FREE_KEY: 'free-secret', PRO_KEY: value });
    return read.ok ? [] : read.problems.map((problem) => problem.remedy);
  };
  t.strictSame(remedy(undefined), ['set it: export PRO_KEY=…']);
  t.strictSame(remedy(''), ['set it: export PRO_KEY=…']);
  t.strictSame(remedy('two words'), ['set it to the key alone']);
  t.strictSame(remedy('k'.repeat(5000)), ['set it to the key alone']);
  t.strictSame(remedy('abc'), ['use a longer key']);
  t.match(remedy('free-secret'), [/^name a key once, with all its roles/]);
  t.end();
});

t.test('all problems at once', (t) => {
  const read = keyValues(profile, {});
  t.equal(read.ok ? 0 : read.problems.length, 2);
  t.end();
});

t.test('a key that is not used need not be there, and is looked at where it is', (t) => {
  const isUsed = ({ name }: { readonly name: string }) => name === 'free-1';
  const read = keyValues(profile, { FREE_KEY: 'free-secret' }, isUsed);
  t.strictSame(read.ok && [...read.values.keys()], ['free-1']);
  t.equal(keyValues(profile, { FREE_KEY: 'free-secret', PRO_KEY: 'two words' }, isUsed).ok, false);
  t.end();
});
