import { Agent, request } from 'undici';
import { startReferenceServer } from '../../reference-server/reference-server.ts';

/**
 * A simulated minute is a second and a half at the least: long enough for a thousand requests on a small machine, short
 * enough that a whole day at a plan's own pace is a matter of minutes.
 */
const FASTEST = 40;
const SLOWEST = 5;
const REQUESTS = 600;
const IN_FLIGHT = 50;
/**
 * Bare requests a second for each unit of speed. Business's thousand have to fit into a minute of 60/speed seconds,
 * and a check spends up to 3.6 times a bare client's time on a request: 1000 * 3.6 / 60.
 */
const REQUESTS_PER_SPEED = 60;

/**
 * How many times as fast as real time the embedded server's clock may run, on this machine and as busy as it is now:
 * its minutes are to be long enough for the largest plan to be filled in one.
 *
 * @returns from 5 to 40
 */
export async function affordableClockSpeed(): Promise<number> {
  const server = await startReferenceServer({ enterprise: { perMinute: 1e6, perDay: 1e9 } });
  const client = new Agent({ connections: IN_FLIGHT });
  const key = server.keys.find(({ plan }) => plan === 'enterprise');
  const began = performance.now();
  let left = REQUESTS;
  const send = async () => {
    for (; left > 0; left -= 1) {
      const { body } = await request(`${server.baseUrl}/pets?limit=1`, {
        dispatcher: client,
        headers: { authorization: `Bearer ${key?.value}` },
      });
      await body.dump();
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, send));
  const perSecond = (REQUESTS / (performance.now() - began)) * 1000;
  await client.close();
  await server.close();
  return Math.min(FASTEST, Math.max(SLOWEST, Math.round(perSecond / REQUESTS_PER_SPEED)));
}
