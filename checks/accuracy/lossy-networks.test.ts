/** Conforming targets behind a network that loses answers all the time: few rows stay open, and none is wrong. */
import type { ServerResponse } from 'node:http';
import t from 'tap';
import { together } from '../../reference-server/deviations/personality.ts';
import { delivering } from '../../reference-server/deviations/shapes.ts';
import { startServer } from '../../reference-server/server.ts';
import { sharedClock } from '../run/clock.ts';
import { resultOf, type Setting } from './case.ts';

const SETTING: Setting = {
  keys: ['free-1', 'free-2', 'free-ban', 'pro-1'],
  permissions: ['writes', 'exhaust', 'ban'],
};

/** Something else happens to every n-th answer. */
const everyNth = (n: number, instead: (response: ServerResponse) => void) => () => {
  let answers = 0;
  return delivering((usual, response, answer, headers, call) => {
    answers += 1;
    if (answers % n === 0) instead(response);
    else usual(response, answer, headers, call);
  });
};

const NETWORKS = {
  'connections that are reset': everyNth(7, ({ socket }) => socket?.destroy()),
  'a gateway that loses its server': everyNth(12, (response) => {
    response.writeHead(502, { 'Content-Type': 'text/html' });
    response.end('<html><body><h1>502 Bad Gateway</h1></body></html>');
  }),
};

for (const [network, personality] of Object.entries(NETWORKS))
  t.test(`seven rows in eight are settled behind ${network}`, async (t) => {
    const clock = sharedClock();
    const server = await startServer({ clock, ban: { seconds: 20 }, ...together(personality) });
    t.teardown(() => server.close());
    const { verdicts } = await resultOf({ ...server, clock }, SETTING);
    const reasons = (which: string) =>
      verdicts.flatMap(({ id, verdict, reason }) => (verdict === which ? [`${id}: ${reason}`] : []));
    t.strictSame(reasons('fail'), []);
    t.strictSame(
      reasons('inconclusive').filter((open) => /another client/.test(open)),
      [],
      'nobody else is blamed for a lost answer',
    );
    t.ok(reasons('inconclusive').length <= verdicts.length / 8, reasons('inconclusive').join('\n'));
  });
