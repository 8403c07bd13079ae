import t from 'tap';
import { DAY, MINUTE } from '../harness/key-pool.ts';
import { exceededWindow } from './told-time.ts';

const FREE = { perMinute: 60, perDay: 1000 };

t.test('a refusal is about the day only where the day has nothing left', async (t) => {
  t.equal(exceededWindow({ limit: 60, remaining: 0 }, FREE), MINUTE);
  t.equal(exceededWindow({ limit: 1000, remaining: 0 }, FREE), DAY);
  t.equal(
    exceededWindow({ limit: 1000, remaining: 940 }, FREE),
    MINUTE,
    'the day’s figures, the minute’s refusal',
  );
  t.equal(exceededWindow({ limit: undefined, remaining: undefined }, FREE), MINUTE);
  t.equal(exceededWindow({ limit: 100, remaining: 0 }, { perMinute: 100, perDay: 100 }), MINUTE);
});
