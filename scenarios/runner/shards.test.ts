import t from 'tap';
import { divideKeys, segmentSequence } from './shards.ts';

t.test('keys are divided evenly, each to one process', async (t) => {
  const parts = divideKeys(
    new Map([
      [0, 0.4],
      [1, 0.3],
      [2, 0.2],
      [3, 0.1],
    ]),
    2,
  );
  t.same(
    parts.map(({ keys }) => keys),
    [
      [0, 3],
      [1, 2],
    ],
  );
  for (const { share } of parts) t.ok(Math.abs(share - 0.5) < 1e-9);
});

t.test('segments are as large as what their keys pay', async (t) => {
  const parts = [
    { keys: [0], share: 0.5 },
    { keys: [1], share: 0.25 },
    { keys: [2], share: 0.25 },
  ];
  t.same(segmentSequence(parts), ['0', '500/1000', '750/1000', '1']);
});
