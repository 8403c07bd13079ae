/** Time in which nobody waits: where nothing is under way, it goes on to what is waited for. */
import { setImmediate as turn } from 'node:timers/promises';
import type { HttpClient } from '../harness/client.ts';
import type { Clock } from '../harness/clock.ts';

/** What passes at most, in milliseconds, while the machine does something else than this. */
const LONGEST_STALL = 20;

/** What each exchange takes beside that, in milliseconds: the nearest target is further away than this process. */
const JOURNEY = 4;

/** A clock that a run and its target share, and the client of that run. */
export interface SimulatedTime {
  readonly clock: Clock;
  /** The same client, whose exchanges hold the time up. */
  holding(client: HttpClient): HttpClient;
}

/**
 * The machine's time, which skips what everybody waits for: a day takes as long as its requests. What happens at once
 * happens as it does in real time, in its order and at its distance, but for the stalls of a busy machine.
 */
export function simulatedTime(): SimulatedTime {
  let time = Date.now();
  let lookedAt = performance.now();
  let underWay = 0;
  let passing = false;
  let sleepers: { readonly until: number; readonly wake: () => void }[] = [];
  const now = () => {
    const at = performance.now();
    time += Math.min(at - lookedAt, LONGEST_STALL);
    lookedAt = at;
    return time;
  };

  async function pass(): Promise<void> {
    if (passing) return;
    passing = true;
    while (sleepers.length > 0) {
      // Whoever was answered or woken goes on first, as far as it comes.
      await turn();
      await turn();
      const next = Math.min(...sleepers.map(({ until }) => until));
      if (next > now()) {
        if (underWay > 0) break;
        time = next;
      }
      const due = sleepers.filter(({ until }) => until <= next);
      sleepers = sleepers.filter(({ until }) => until > next);
      for (const { wake } of due) wake();
    }
    passing = false;
  }

  return {
    clock: {
      speed: 1,
      now,
      async sleepUntil(until, signal) {
        signal?.throwIfAborted();
        if (until <= now()) return;
        await new Promise<void>((wake) => {
          sleepers.push({ until, wake });
          void pass();
        });
      },
    },
    holding: (client) => ({
      async exchange(request, record, signal) {
        underWay += 1;
        try {
          return await client.exchange(request, record, signal);
        } finally {
          underWay -= 1;
          time += JOURNEY;
          void pass();
        }
      },
      close: () => client.close(),
    }),
  };
}
