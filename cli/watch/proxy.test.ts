/** The target's failures look the same through the proxy. */
import t from 'tap';
import { limitsFor } from '../../checks/accuracy/hostile/testing/hostile-target.ts';
import { hostileTargets } from '../../checks/accuracy/hostile/testing/hostile-targets.ts';
import { DIRECT } from '../../checks/wire/access.ts';
import { createClient } from '../../checks/wire/client.ts';
import { startProxy } from './proxy.ts';

t.test('each hostile target', { jobs: 8 }, async (t) => {
  for (const target of hostileTargets)
    await t.test(target.name, async (t) => {
      const ask = async (baseUrl: string) => {
        const client = createClient({ baseUrl, now: Date.now, secrets: [], timeouts: limitsFor(target) });
        const { outcome } = await client.exchange(
          { operation: 'listPets', method: 'GET', path: '/pets?limit=1', authorization: { kind: 'none' } },
          { id: 'one', sentBy: 'one', intent: 'ordinary' },
        );
        await client.close();
        return outcome.kind === 'response'
          ? { status: outcome.status, body: outcome.body.slice(0, 60) }
          : { reason: outcome.reason };
      };
      const running = await target.start();
      t.teardown(() => running.close());
      const direct = await ask(running.url);
      const again = await target.start();
      t.teardown(() => again.close());
      const proxy = await startProxy({
        target: again.url,
        access: DIRECT,
        port: 0,
        onPassed: () => {},
        onLost: () => {},
      });
      t.teardown(() => proxy.close());
      const through = await ask(proxy.address);
      // What is no HTTP cannot be passed on as HTTP: the connection breaks.
      const isBroken = /^(malformed-response|refused|too-large)$/.test(direct.reason ?? '');
      t.strictSame(through, isBroken && through.reason === 'reset' ? { reason: 'reset' } : direct);
    });
});
