import t from 'tap';
import { createRedactor } from '../../../checks/wire/redaction.ts';
import { EventLog } from '../k6/event-log.ts';
import { SampleStore } from '../result/sample-store.ts';
import { judgeIds, judgeNeighbour, judgeTrend } from './judges.ts';

const NAMES = {
  streams: ['alone', 'disturbed'],
  keys: [{ name: 'k', plan: 'pro' as const }],
};

/** So many seconds of ten lists each. */
function seconds(many: number) {
  const store = new SampleStore(NAMES, 1);
  for (let second = 0; second < many; second += 1)
    store.addLine(
      `${1_800_000_000_000 + second * 1000},${Array.from({ length: 10 }, () => '0,50,1000').join(',')}`,
    );
  return store.series();
}

t.test('what is too short to be judged neither holds nor is broken', async (t) => {
  t.strictSame(judgeTrend(seconds(5)), {
    name: 'latency does not creep up',
    undecided: '5 time blocks of the 12 that it takes: run it longer',
  });
  t.strictSame(judgeNeighbour(seconds(5)), [
    {
      name: "the neighbour's noise does not reach others",
      undecided: 'the two have no operation in common: run it longer',
    },
  ]);
});

t.test('latency that stays as it is does not creep up', async (t) => {
  t.match(judgeTrend(seconds(20)), { held: true });
});

t.test('what a client could not find out is kept apart from what it asserts', async (t) => {
  const log = new EventLog(createRedactor(['sk_secret']));
  log.add('{"kind":"undecided","name":"a","key":"k","why":"sk_secret was slow"}');
  t.same(log.undecided, [{ kind: 'undecided', name: 'a', key: 'k', why: '[key redacted] was slow' }]);
  t.same(log.assertions, []);
  t.same(log.errorLines, []);
});

t.test('an id that two animals have is told', async (t) => {
  t.match(judgeIds(['1', '2', '3']), { held: true, actual: '3 ids' });
  t.match(judgeIds(['1', '2', '2']), { held: false, actual: '2 ids; given twice: 2' });
  t.match(judgeIds([]), { held: false });
});
