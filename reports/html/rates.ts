/** The rate limits of each key over time: what X-RateLimit-Remaining said, and what became of the requests. */
import { html, type SafeHtml } from '@remix-run/html-template';
import { groupBy } from '../../spec/group-by.ts';
import { count, grouped } from '../facts.ts';
import type { Report, TimelinePoint } from '../report.ts';
import {
  type Bar,
  bars,
  chart,
  GREEN,
  GREY,
  LIGHT_BLUE,
  legend,
  linear,
  ORANGE,
  RED,
  timeAxis,
} from './chart.ts';

/** How many columns a key's picture has, from its first request to its last. */
const COLUMNS = 400;
/** More pictures would be too many. */
const MOST_KEYS = 12;

/** What became of requests; the first one is drawn upwards. */
const FATES = [
  { words: 'answered', colour: GREEN, of: ({ status }: TimelinePoint) => status !== 0 && status !== 429 },
  { words: 'refused (429)', colour: RED, of: ({ status }: TimelinePoint) => status === 429 },
  { words: 'banned', colour: ORANGE, of: ({ banned }: TimelinePoint) => banned === true },
  { words: 'no answer', colour: GREY, of: ({ status }: TimelinePoint) => status === 0 },
] as const;

/** How many requests had each fate; a ban may have any status. */
const countsOf = (points: readonly TimelinePoint[]): number[] => {
  const counts = FATES.map(() => 0);
  for (const point of points) {
    const fate = FATES.findLastIndex(({ of }) => of(point));
    counts[fate] = (counts[fate] ?? 0) + (point.times ?? 1);
  }
  return counts;
};
const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

/** A picture for each key: the profile's keys in their order, then others, and requests without a valid key. */
export function ratePictures({ run, timeline }: Report): SafeHtml {
  const byKey = groupBy(timeline, ({ key }) => key);
  const names = [...new Set([...run.keys.map(({ name }) => name), ...byKey.keys()])]
    .filter((name) => byKey.has(name))
    .sort((a, b) => Number(a === null) - Number(b === null));
  if (names.length === 0) return html`<p class="quiet">The run made no request.</p>`;
  return html`<p class="quiet">Each key from its first request to its last: what X-RateLimit-Remaining said, and requests, answered (up) and not (down).</p>
${legend([bars('Remaining', LIGHT_BLUE, []), ...FATES.map(({ words, colour }) => bars(words, colour, []))])}
${names.slice(0, MOST_KEYS).map((key) => picture(key, run.keys.find(({ name }) => name === key)?.plan, byKey.get(key) ?? []))}`;
}

function picture(key: string | null, plan: string | undefined, points: readonly TimelinePoint[]): SafeHtml {
  const from = points.reduce((least, { at }) => Math.min(least, at), Number.POSITIVE_INFINITY);
  const until = points.reduce((most, { at }) => Math.max(most, at), from + 1);
  const width = (until - from) / COLUMNS;
  const columns = [...groupBy(points, ({ at }) => from + Math.floor((at - from) / width) * width)];
  // Of the answers in a column the last one is drawn, up to the next.
  const told = columns.flatMap(
    ([, inside]) => inside.findLast(({ remaining, limit }) => remaining !== undefined && limit) ?? [],
  );
  const remaining = told.map(({ at, remaining = 0, limit = 1 }, index): Bar => {
    const next = told[index + 1]?.at ?? until;
    return [at, next, Math.min(1, Math.max(0, remaining / limit))];
  });
  const counts = columns.map(([start, inside]) => [start, countsOf(inside)] as const);
  // Each fate covers the part of the one before that is nearer to the axis.
  const requests = FATES.map(({ words, colour }, fate) =>
    bars(
      words,
      colour,
      counts.map(([start, [answered = 0, ...others]]) => [
        start,
        start + width,
        fate === 0 ? answered : -sum(others.slice(fate - 1)),
      ]),
    ),
  );
  const [answered = 0, ...others] = countsOf(points);
  const facts = [
    count(answered + sum(others), 'request'),
    ...others.flatMap((number, index) =>
      number === 0 ? [] : `${grouped(number)} ${FATES[index + 1]?.words}`,
    ),
  ].join(', ');
  const name = key ?? 'no valid key';
  const x = timeAxis(from, until);
  const up = Math.max(...counts.map(([, [number = 0]]) => number));
  const down = Math.max(...counts.map(([, [, ...numbers]]) => sum(numbers)));
  const y = linear(-Math.max(down, up / 4, 1), Math.max(up, down / 4, 1), [{ value: 0, text: '' }]);
  const part = { label: `${name}: Remaining over time`, height: 66, x: { ...x, ticks: [] }, y: linear(0, 1) };
  return html`<p><b>${name}</b>${plan === undefined ? '' : ` ${plan}`} <span class="quiet">${facts}</span></p>
${told.length === 0 ? '' : chart(part, [bars('Remaining', LIGHT_BLUE, remaining)])}${chart({ label: `${name}: ${facts}`, height: 70, x, y }, requests)}`;
}
