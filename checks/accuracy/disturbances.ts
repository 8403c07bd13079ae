/**
 * What may happen to a run that is nobody's fault: behind each of these a conforming server still conforms. Each row says
 * what is asked of the server, and which rows of the verdict it may leave open.
 */
import type { ServerResponse } from 'node:http';
import { admitting, knowingRequests } from '../../reference-server/deviations/admission.ts';
import { closing, delivering } from '../../reference-server/deviations/answers.ts';
import { clockOffBy } from '../../reference-server/deviations/clock.ts';
import type { Deviation } from '../../reference-server/deviations/deviation.ts';
import { header } from '../../reference-server/deviations/headers.ts';
import { changed, noting } from '../../reference-server/deviations/store.ts';
import { SPENT_DAYS, SPENT_OF_ONE } from '../../reference-server/deviations/variants/index.ts';
import { always, everyTime } from '../../reference-server/deviations/when.ts';
import { httpDate } from '../../reference-server/headers.ts';
import type { Pet } from '../../reference-server/pet-store.ts';
import { currentId } from '../../spec/contract.ts';
import type { Clock, SharedClock } from '../run/clock.ts';
import type { Reason } from '../run/reason.ts';
import { createClient, type HttpClient } from '../wire/client.ts';
import { type Setting, settingOf } from './setting.ts';

export interface Disturbance {
  readonly name: string;
  /** The least that it can disturb; by default {@link DISTURBED}. */
  readonly setting?: Setting;
  /** Who is disturbed; by default each conforming variant is. */
  readonly variants?: readonly { readonly name: string }[];
  /** The rows that it may leave open, how many of them at most, and for which reason if for one only; by default none. */
  readonly explains?: { readonly rows: RegExp; readonly most: number; readonly because?: Reason['kind'] };
  /** Animals in the store at the start. */
  readonly animals?: number;
  /** What happens to the server and to its answers. */
  readonly server?: (clock: SharedClock) => Deviation;
  /** What happens to requests on their way. */
  readonly link?: (clock: Clock) => (client: HttpClient) => HttpClient;
  /** After how many exchanges the run's process ends, each time. */
  readonly killedAfter?: readonly number[];
}

const WRITING: Setting = { keys: ['free-1', 'free-2', 'pro-1'], permissions: ['writes'] };
const LIMITED: Setting = { keys: ['free-1', 'free-2', 'free-ban'], permissions: ['exhaust', 'ban'] };
/** As for a requirement that is not about limits. */
export const DISTURBED: Setting = settingOf(currentId('list-answers-200'));

/** Something else happens to every n-th answer, whose request was served. */
const everyAnswer =
  (n: number, instead: (response: ServerResponse, text: string) => void): Deviation =>
  () => {
    const isDue = everyTime(n);
    return delivering((usual, response, answer, headers, call) =>
      isDue() ? instead(response, answer.text) : usual(response, answer, headers, call),
    );
  };

/** Of so many requests one finds no connection. */
const refusingEvery =
  (n: number, clock: Clock) =>
  (client: HttpClient): HttpClient => {
    const isDue = everyTime(n);
    // Nothing listens at this port.
    const nobody = createClient({ baseUrl: 'http://127.0.0.1:1/v1', now: clock.now, secrets: [] });
    return { ...client, exchange: (...asked) => (isDue() ? nobody : client).exchange(...asked) };
  };

/**
 * Somebody changes the animals, once, after so many requests: in the middle of a run. Null removes one. Index is the place
 * among those that were added, or below 0.
 */
const changedOnce = (change: (pet: Pet, index: number) => Pet | null, after = 60) =>
  knowingRequests((requests) => {
    const added: string[] = [];
    const since = new Set<string>();
    return [
      noting(({ id }) => void (requests() < after ? added.push(id) : since.add(id))),
      changed((pet) => (requests() < after || since.has(pet.id) ? pet : change(pet, added.indexOf(pet.id)))),
    ];
  });

const STATUSES = ['available', 'pending', 'sold'] as const;
/** A count of a window needs every answer of it; beside that a row may rest on few answers that did not arrive. */
const LOST = { rows: /^(ban-ends$|(rate|retry-after|ban-spares|auth|list|get)-)/, most: 9 };
const ANIMALS = /^(add|get|list|pet)-/;
/** What stays open where each minute that was filled had a window's edge in it. */
const MINUTE_EDGE = /^rate-(minute-free|concurrent|next-window|reset-true)$/;
/** What is told of a moment. */
const MOMENTS = /^(rate-next-window|rate-reset|retry-after|ban-spares-polite|ban-ends)/;

export const DISTURBANCES: readonly Disturbance[] = [
  { name: 'an empty store', animals: 0 },
  {
    name: '100,000 foreign animals, another client adding',
    animals: 100_000,
    server: () =>
      admitting((usual, key, call) => {
        const { store } = call.service;
        store.add({
          name: `another client's`,
          categoryId: '1',
          status: STATUSES[store.all.length % 3] ?? null,
        });
        return usual(key, call);
      }),
  },
  {
    name: 'the answer to one addition lost',
    setting: WRITING,
    server: () => {
      let additions = 0;
      return closing(({ request }) => request.method === 'POST' && ++additions === 5);
    },
  },
  {
    name: 'answers lost',
    explains: LOST,
    server: () => everyAnswer(7, ({ socket }) => socket?.destroy()),
  },
  {
    name: 'refused connections and resets',
    // A window of a clock may end while it is filled, and again where it is filled once more.
    explains: { rows: MINUTE_EDGE, most: 4 },
    link: (clock) => refusingEvery(20, clock),
    server: () => everyAnswer(100, ({ socket }) => socket?.resetAndDestroy()),
  },
  {
    name: 'resets in the middle of a body',
    explains: LOST,
    server: () =>
      everyAnswer(9, (response, text) => {
        response.writeHead(200, { 'Content-Length': Buffer.byteLength(text) });
        // Never all of it: an empty list is short.
        response.write(text.slice(0, text.length / 2));
        setImmediate(() => response.socket?.resetAndDestroy());
      }),
  },
  {
    name: "a gateway's 502",
    explains: LOST,
    server: () =>
      everyAnswer(12, (response) => {
        response.writeHead(502, { 'Content-Type': 'text/html' });
        response.end('<html><body><h1>502 Bad Gateway</h1></body></html>');
      }),
  },
  {
    name: 'a neighbour on a key',
    explains: { rows: /^(rate|retry-after|ban)-/, most: 9 },
    server: () => {
      const isDue = everyTime(5);
      return admitting((usual, key, call) => {
        if (isDue() && /^(free|pro)-1$/.test(key.name)) usual(key, call);
        return usual(key, call);
      });
    },
  },
  {
    name: 'a clock ahead',
    setting: LIMITED,
    server: () => clockOffBy(() => 90_000),
  },
  {
    name: 'a clock behind',
    setting: LIMITED,
    server: () => clockOffBy(() => -90_000),
  },
  {
    name: 'a clock set back in the run',
    setting: LIMITED,
    explains: { rows: MOMENTS, most: 5 },
    server: () => clockOffBy((elapsed) => (elapsed > 30_000 ? -30_000 : 0)),
  },
  {
    name: "a proxy's Date that is ahead",
    setting: LIMITED,
    explains: { rows: MOMENTS, most: 7 },
    server: () => header('Date', always, (_value, { now }) => httpDate(now + 40_000)),
  },
  {
    name: 'an operator who removes animals',
    setting: WRITING,
    explains: { rows: ANIMALS, most: 2 },
    server: () => changedOnce((pet, index) => (index % 3 === 0 ? null : pet)),
  },
  {
    name: 'an operator who edits animals',
    setting: WRITING,
    explains: { rows: ANIMALS, most: 2 },
    server: () =>
      changedOnce((pet, index) => (index < 0 ? pet : { ...pet, name: 'renamed', status: 'sold' })),
  },
  {
    name: 'a restart that loses what was added',
    setting: WRITING,
    explains: { rows: ANIMALS, most: 2 },
    server: () => changedOnce((pet, index) => (index < 0 ? pet : null)),
  },
  {
    name: 'a restart that empties the store',
    setting: WRITING,
    explains: { rows: /^(add|get|list|pet)-|^deprecation-successor/, most: 4 },
    server: () => changedOnce(() => null, 100),
  },
  {
    name: 'a restart that loses what was counted',
    explains: { rows: /^rate-/, most: 4 },
    server: () => {
      let requests = 0;
      return ({ accountOf, admit }) => ({
        // While the keys' minutes are filled.
        accountOf: (key) => `${accountOf(key)}${requests < 170 ? '' : ', again'}`,
        admit(key, call) {
          requests += 1;
          return admit(key, call);
        },
      });
    },
  },
  {
    name: 'a slow link',
    setting: settingOf(),
    // The minutes of both plans, and what rests on them.
    explains: { rows: /^rate-(minute|concurrent|next-window|reset-true)/, most: 4 },
    server: (clock) =>
      delivering((usual, response, answer, headers, call) => {
        // Everything else waits for 20,000 bytes a second; an answer's headers are 300.
        clock.pass(((300 + answer.text.length) / 20_000) * 1000);
        usual(response, answer, headers, call);
      }),
  },
  {
    name: 'a process killed and resumed',
    explains: { rows: new RegExp(`^ban-|${MINUTE_EDGE.source}`), most: 6 },
    killedAfter: [40, 170],
  },
  {
    name: 'a whole day',
    variants: [{ name: 'random-ids' }],
    setting: settingOf('rate-day-free'),
  },
  {
    name: 'a day that is used in part',
    variants: SPENT_DAYS,
    setting: {
      keys: ['free-1', 'free-2', 'free-ban'],
      permissions: ['writes', 'exhaust', 'ban', 'day'],
      usedToday: true,
    },
    // The day may end before anything was asked.
    explains: { rows: /./, most: 100, because: 'day-spent' },
  },
  {
    name: 'a day that one key has used',
    variants: SPENT_OF_ONE,
    setting: { keys: ['free-1', 'free-2'], permissions: ['writes'], usedToday: true },
    // The other one pays for everything but what is about two keys.
    explains: { rows: /^rate-keys-apart$/, most: 1, because: 'day-spent' },
  },
];
