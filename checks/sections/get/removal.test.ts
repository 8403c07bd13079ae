/** Sections 4.3 and 9: whether the removal date has come, by a clock that is known to within a range. */
import t from 'tap';
import { removal, removalDay } from './removal.ts';

t.test('the removal date begins and ends with the first and the last place on Earth', (t) => {
  t.equal(removalDay.begins, Date.UTC(2030, 11, 4, 10));
  t.equal(removalDay.ends, Date.UTC(2030, 11, 6, 12));
  t.end();
});

t.test('before it, on it, after it', (t) => {
  const { begins, ends } = removalDay;
  for (const [earliest, latest, phase] of [
    [begins - 9000, begins - 1, 'before'],
    [begins - 9000, begins, 'on the day'],
    [begins, ends, 'on the day'],
    [ends, ends + 9000, 'on the day'],
    [ends + 1, ends + 9000, 'after'],
  ] as const)
    t.equal(removal({ earliest, latest }, Math.max(earliest, Math.min(latest, ends))), phase);
  t.equal(removal(undefined, begins - 1), 'before', 'without a clock');
  t.equal(removal(undefined, ends + 1), 'after', 'without a clock');
  t.equal(removal({ earliest: ends + 1, latest: ends + 2 }, begins - 1), 'disputed');
  t.equal(removal({ earliest: begins - 2, latest: begins - 1 }, ends + 1), 'disputed');
  t.end();
});
