import t from 'tap';
import { otherLoad, withoutOtherLoad } from './own-load.ts';

t.test('options of k6 that replace the load that was paid for are seen', async (t) => {
  for (const option of [
    '--vus',
    '--vus=3',
    '-u',
    '-u3',
    '-i=30',
    '--iterations',
    '-qd',
    '-s',
    '--stage=1m:5',
  ])
    t.equal(otherLoad(['--out', 'web-dashboard', option]), option);
});

t.test('others pass', async (t) => {
  for (const option of [
    '--out',
    '-oweb-dashboard',
    '--vus-x',
    '-v',
    '--dns=ttl=5m',
    '--tag',
    'duration=x',
    '-e',
  ])
    t.equal(otherLoad([option]), undefined, option);
});

t.test('what the environment has for other scripts does not reach k6', async (t) => {
  t.same(withoutOtherLoad({ K6_VUS: '3', K6_STAGES: '1m:9', K6_OUT: 'json', HOME: '/' }), {
    K6_OUT: 'json',
    HOME: '/',
  });
});
