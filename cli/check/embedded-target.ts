import { serverProfile } from '../../checks/profile/server-profile.ts';
import { sharedClock } from '../../checks/run/clock.ts';
import { startReferenceServer } from '../../reference-server/reference-server.ts';

/** Starts the reference server on a free port of the loopback interface, as a target that permits everything. */
export async function startEmbeddedTarget() {
  // Shared by server and run, so that nothing waits a real second for a simulated one.
  const clock = sharedClock();
  const server = await startReferenceServer({
    clock,
    // Numbers that add little to the run.
    enterprise: { perMinute: 600, perDay: 6000 },
    ban: { seconds: 20 },
    // With those that a run adds still fewer than a list may hold: only then does a list show the whole store.
    animals: 30,
  });
  const keys = server.keys.filter(({ name }) => !name.includes('load'));
  return {
    profile: serverProfile({ ...server, keys }),
    clock,
    values: new Map(keys.map(({ name, value }) => [name, value])),
    close: () => server.close(),
  };
}
