import t from 'tap';
import { convert } from 'xmlbuilder2';
import { HOSTILE_STRINGS } from '../testing/hostile-report.ts';
import { capacityResult } from '../testing/sample-load.ts';
import { renderCapacitySvg } from './capacity-svg.ts';

t.test(
  'a mark for each step, held and broken apart by shape; interval, capacity and objective',
  async (t) => {
    const picture = renderCapacitySvg(capacityResult());
    t.equal(picture.match(/<g><title>/g)?.length, 15);
    t.equal(picture.match(/r="4" fill="#1a7f37"/g)?.length, 10);
    t.equal(picture.match(/<path d="M[^"]+" stroke="#b3261e" stroke-width/g)?.length, 5);
    t.match(picture, /<path [^>]*opacity="0\.15"/);
    t.match(picture, /stroke-dasharray="6 4"\/>\n<text [^>]*>p99&lt;200ms</);
  },
);

t.test('it is well-formed XML, whatever the names, and with no step at all', async (t) => {
  for (const hostile of HOSTILE_STRINGS) {
    const picture = renderCapacitySvg(capacityResult(hostile));
    t.match(convert(picture, { format: 'object' }), { svg: {} });
    t.notMatch(picture, /\p{Cs}|(?!\n)\p{Cc}/u, 'characters that XML 1.0 does not know');
  }
  const none = { ...capacityResult(), capacity: null, interval: null, steps: [] };
  t.match(convert(renderCapacitySvg(none), { format: 'object' }), { svg: {} });
});
