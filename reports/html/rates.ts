/** The rate limits of each key over time: what X-RateLimit-Remaining said, and what became of the requests. */
import { html, type SafeHtml } from '@remix-run/html-template';
import { groupBy } from '../../spec/group-by.ts';
import { count, grouped } from '../facts.ts';
import type { Report, TimelinePoint } from '../report.ts';
import { BLUE, boxes, chart, GREEN, GREY, legend, linear, ORANGE, pathHtml, RED, timeAxis } from './chart.ts';
import { area, curveStepAfter } from './d3.ts';

/** How many columns a key's picture has, from its first request to its last. */
const COLUMNS = 400;
/** More pictures would be too many. */
const MOST_KEYS = 12;
/** With more resets than this their lines would be a solid block. */
const MOST_RESETS = 60;

/** What became of requests; the first one is drawn upwards. */
const FATES = [
  { words: 'answered', colour: GREEN, of: ({ status }: TimelinePoint) => status !== 0 && status !== 429 },
  { words: 'refused (429)', colour: RED, of: ({ status }: TimelinePoint) => status === 429 },
  { words: 'banned', colour: ORANGE, of: ({ banned }: TimelinePoint) => banned === true },
  { words: 'no answer', colour: GREY, of: ({ status }: TimelinePoint) => status === 0 },
] as const;
const RESET = { colour: GREY, dash: '6 4' };

/** The number of a point's fate: a ban may have any status. */
const fateOf = (point: TimelinePoint) => FATES.findLastIndex(({ of }) => of(point));
const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

/** A picture for each key: the profile's keys in their order, then others, and requests without a valid key. */
export function ratePictures({ run, timeline }: Report): SafeHtml {
  const byKey = groupBy(timeline, ({ key }) => key);
  const names = [...new Set([...run.keys.map(({ name }) => name), ...byKey.keys()])]
    .filter((name) => byKey.has(name))
    .sort((a, b) => Number(a === null) - Number(b === null));
  if (names.length === 0) return html`<p class="quiet">The run made no request.</p>`;
  return html`<p class="quiet">Each key from its first request to its last: what X-RateLimit-Remaining said, and requests, answered (up) and not (down).</p>
${legend([['Remaining', BLUE], ...FATES.map(({ words, colour }) => [words, colour] as const), ['X-RateLimit-Reset', RESET]])}
${names.slice(0, MOST_KEYS).map((key) => picture(key, run.keys.find(({ name }) => name === key)?.plan, byKey.get(key) ?? []))}`;
}

function picture(key: string | null, plan: string | undefined, points: readonly TimelinePoint[]): SafeHtml {
  const from = points.reduce((least, { at }) => Math.min(least, at), Number.POSITIVE_INFINITY);
  const until = points.reduce((most, { at }) => Math.max(most, at), from + 1);
  const width = (until - from) / COLUMNS;
  const total = FATES.map(() => 0);
  const columns = new Map<number, number[]>();
  const left = new Map<number, readonly [at: number, part: number]>();
  const resets = new Set<number>();
  for (const point of points) {
    const { at, remaining, limit, reset, times = 1 } = point;
    const index = Math.min(COLUMNS - 1, Math.floor((at - from) / width));
    const column = columns.get(index) ?? FATES.map(() => 0);
    columns.set(index, column);
    const fate = fateOf(point);
    column[fate] = (column[fate] ?? 0) + times;
    total[fate] = (total[fate] ?? 0) + times;
    if (remaining !== undefined && limit) left.set(index, [at, Math.min(1, Math.max(0, remaining / limit))]);
    if (reset !== undefined && reset > from && reset < until) resets.add(Math.round(reset));
  }
  const name = key ?? 'no valid key';
  const facts = [
    count(sum(total), 'request'),
    ...total
      .slice(1)
      .flatMap((number, index) => (number === 0 ? [] : [`${grouped(number)} ${FATES[index + 1]?.words}`])),
  ].join(', ');
  const x = timeAxis(from, until);
  const remaining = chart(
    { label: `${name}: Remaining over time`, height: 66, x: { ...x, ticks: [] }, y: linear(0, 1) },
    ({ x: across, y }) => {
      const path = area<readonly [number, number]>(
        ([at]) => across(at),
        y(0),
        ([, part]) => y(part),
      );
      const d = path.curve(curveStepAfter).digits(1)([...left.values()]) ?? '';
      const lines = resets.size > MOST_RESETS ? [] : [...resets];
      return [
        html`<path fill="${BLUE}" fill-opacity="0.4" d="${d}" />`,
        pathHtml(RESET, lines.map((reset) => `M${across(reset).toFixed(1)} 0V66`).join('')),
      ];
    },
  );
  const up = Math.max(...[...columns.values()].map(([answered = 0]) => answered));
  const down = Math.max(...[...columns.values()].map((column) => sum(column.slice(1))));
  const y = linear(-Math.max(down, up / 4, 1), Math.max(up, down / 4, 1), [{ value: 0, text: '' }]);
  const requests = chart({ label: `${name}: ${facts}`, height: 70, x, y }, (canvas) =>
    FATES.map(({ colour }, fate) =>
      boxes(
        colour,
        canvas,
        [...columns].map(([index, column]) => ({
          left: from + index * width,
          right: from + (index + 1) * width,
          from: fate === 0 ? 0 : -sum(column.slice(1, fate)),
          to: fate === 0 ? (column[0] ?? 0) : -sum(column.slice(1, fate + 1)),
        })),
      ),
    ),
  );
  return html`<p><b>${name}</b>${plan === undefined ? '' : ` ${plan}`} <span class="quiet">${facts}</span></p>
${left.size === 0 ? '' : remaining}${requests}`;
}
