import t from 'tap';
import { readLast } from './read-last.ts';

t.test('what is asked for again is not read again, until something else is', async (t) => {
  const read: (number | undefined)[] = [];
  const half = readLast((subject: number | undefined) => {
    read.push(subject);
    return subject === undefined ? undefined : subject / 2;
  });
  t.strictSame([8, 8, 4, 4, 8].map(half), [4, 4, 2, 2, 4]);
  t.strictSame(read, [8, 4, 8]);
  t.strictSame([undefined, undefined].map(half), [undefined, undefined]);
  t.strictSame(read, [8, 4, 8, undefined], 'nothing is something, too');
});
