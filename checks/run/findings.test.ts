import t from 'tap';
import { answered } from '../wire/testing/answered.ts';
import { Findings } from './findings.ts';
import { NotAsked, Unsettled } from './unsettled.ts';

const exchange = (number: number) => answered({ id: `check#${number}` });
const [first, second, third, fourth] = [1, 2, 3, 4].map(exchange);
if (first === undefined || second === undefined || third === undefined || fourth === undefined)
  throw new Error('four exchanges');
const WRONG = { expected: '200', actual: '500' };

t.test('a check that says nothing is inconclusive', async (t) => {
  const findings = new Findings();
  t.strictSame(findings.settle(), {
    verdict: 'inconclusive',
    reason: 'no exchange of this run shows it',
    evidence: [],
  });
  t.equal(findings.broken, 0);
});

t.test('what held is a pass that counts its observations', async (t) => {
  const findings = new Findings();
  findings.holds(first);
  t.strictSame(findings.settle(), { verdict: 'pass', reason: 'held in one observation', evidence: [first] });
  findings.holds(second);
  t.match(findings.settle(), { reason: 'held in 2 observations', evidence: [first, second] });
  t.equal(findings.broken, 0);
});

t.test('three exchanges are proof enough of a pass, each named once', async (t) => {
  const findings = new Findings();
  findings.holds(first, first, second);
  findings.holds(second, third, fourth);
  t.strictSame(findings.settle().evidence, [first, second, third]);
});

t.test('a pass without an exchange is one', async (t) => {
  const findings = new Findings();
  findings.holds();
  t.match(findings.settle(), { verdict: 'pass', evidence: [] });
});

t.test('one violation outweighs everything', async (t) => {
  const findings = new Findings();
  findings.holds(second);
  findings.unsettled('no answer', third);
  findings.notApplicable('another plan');
  findings.breaks(WRONG, first);
  t.equal(findings.broken, 1);
  t.strictSame(findings.settle(), { verdict: 'fail', reason: '500', violation: WRONG, evidence: [first] });
});

t.test('the first violation is shown, all are counted, five bring their evidence, none twice', async (t) => {
  const findings = new Findings();
  findings.breaks(WRONG, first, second);
  findings.breaks({ expected: 'else', actual: 'other' }, second, third);
  t.match(findings.settle(), { reason: '500 (2 times)', violation: WRONG });
  t.strictSame(findings.settle().evidence, [first, second, third]);
  for (let number = 10; number < 20; number += 1) findings.breaks(WRONG, exchange(number));
  const settled = findings.settle();
  t.equal(settled.reason, '500 (12 times)');
  t.strictSame(
    settled.evidence.map(({ id }) => id),
    ['check#1', 'check#2', 'check#3', 'check#10', 'check#11', 'check#12'],
  );
});

t.test('what could not be told outweighs what held, with each reason once', async (t) => {
  const findings = new Findings();
  findings.holds(first);
  findings.notApplicable('another plan');
  findings.unsettled('no answer', second);
  findings.unsettled('no answer', third);
  findings.unsettled('no key');
  t.strictSame(findings.settle(), {
    verdict: 'inconclusive',
    reason: 'no answer; no key',
    evidence: [second],
  });
});

t.test('what does not bind the target is not applicable, unless it held', async (t) => {
  const findings = new Findings();
  findings.notApplicable('no Enterprise key');
  findings.notApplicable('another reason');
  t.strictSame(findings.settle(), { verdict: 'not-applicable', reason: 'no Enterprise key', evidence: [] });
  findings.holds(first);
  t.match(findings.settle(), { verdict: 'pass' });
});

t.test('what was not asked for outweighs what held, and nothing else', (t) => {
  const findings = new Findings();
  findings.holds(answered());
  findings.skips('needs the permission writes');
  findings.skips('needs the permission writes');
  t.match(findings.settle(), { verdict: 'skipped', reason: 'needs the permission writes' });
  findings.unsettled('no answer');
  t.match(findings.settle(), { verdict: 'inconclusive', reason: 'no answer' });
  findings.breaks({ expected: 'a', actual: 'b' });
  t.match(findings.settle(), { verdict: 'fail' });
  t.end();
});

t.test('what a judgement throws as unsettled is said; anything else is a defect', (t) => {
  const findings = new Findings();
  findings.guard(() => {
    throw new Unsettled('no answer', [answered()]);
  });
  t.match(findings.settle(), { verdict: 'inconclusive', reason: 'no answer', evidence: [{ id: 'test#1' }] });
  const skipping = new Findings();
  skipping.guard(() => {
    throw new NotAsked('needs the permission ban');
  });
  t.match(skipping.settle(), { verdict: 'skipped', reason: 'needs the permission ban' });
  const defect = new TypeError('undefined is not a function');
  t.throws(
    () =>
      findings.guard(() => {
        throw defect;
      }),
    defect,
  );
  t.end();
});
