/** The rate limits of each key over time: what X-RateLimit-Remaining said, and what became of the requests. */
import type { AreaYOptions, RectYOptions } from '@observablehq/plot';
import { html, type SafeHtml } from '@remix-run/html-template';
import { groupBy } from '../../spec/group-by.ts';
import { count, grouped } from '../facts.ts';
import type { Report, TimelinePoint } from '../report.ts';
import { chart, dateOf, GREEN, GREY, LIGHT_BLUE, legend, ORANGE, RED, TIME_AXIS } from './chart.ts';
import { areaY, binX, rectY, ruleY } from './plot.ts';

/** About how many columns a key's picture has, from its first request to its last. */
const COLUMNS = 400;

/** What became of requests. The first one is drawn upwards, the others down. */
const FATES = { answered: GREEN, 'refused (429)': RED, banned: ORANGE, 'no answer': GREY };
const COLOURS = { domain: Object.keys(FATES), range: Object.values(FATES) };

/** A ban may have any status. */
function fateOf({ status, banned }: TimelinePoint): keyof typeof FATES {
  if (banned === true) return 'banned';
  if (status === 0) return 'no answer';
  return status === 429 ? 'refused (429)' : 'answered';
}

/** How many requests a point stands for. */
const number = ({ times = 1 }: TimelinePoint) => times;

/** A picture for each key: the profile's keys in their order, then others, and requests without a valid key. */
export function ratePictures({ run, timeline }: Report): SafeHtml {
  const byKey = groupBy(timeline, ({ key }) => key);
  const names = [...new Set([...run.keys.map(({ name }) => name), ...byKey.keys()])]
    .filter((name) => byKey.has(name))
    .sort((a, b) => Number(a === null) - Number(b === null));
  if (names.length === 0) return html`<p class="quiet">The run made no request.</p>`;
  return html`<p class="quiet">Each key from its first request to its last: what X-RateLimit-Remaining said, and requests, answered (up) and not (down).</p>
${legend([['Remaining', LIGHT_BLUE], ...Object.entries(FATES)])}
${names.map((key) => picture(key, run.keys.find(({ name }) => name === key)?.plan, byKey.get(key) ?? []))}`;
}

function picture(key: string | null, plan: string | undefined, points: readonly TimelinePoint[]): SafeHtml {
  const sum = (some: readonly TimelinePoint[]) => some.reduce((total, point) => total + number(point), 0);
  const facts = [count(sum(points), 'request')];
  for (const fate of Object.keys(FATES).slice(1)) {
    const those = sum(points.filter((point) => fateOf(point) === fate));
    if (those > 0) facts.push(`${grouped(those)} ${fate}`);
  }
  const name = key ?? 'no valid key';
  const from = points.reduce((least, { at }) => Math.min(least, at), Number.POSITIVE_INFINITY);
  const until = points.reduce((most, { at }) => Math.max(most, at), from + 1);
  const x = { ...TIME_AXIS, domain: [dateOf(from), dateOf(until)] };
  const columns = { x: ({ at }: TimelinePoint) => dateOf(at), thresholds: COLUMNS };
  const told = points.filter(({ remaining, limit }) => remaining !== undefined && limit);
  const share = ({ remaining = 0, limit = 1 }: TimelinePoint) => Math.min(1, Math.max(0, remaining / limit));
  // Of the answers in a column the last one is drawn, up to the next.
  const remaining = areaY(
    [...told, ...told.slice(-1).map((last) => ({ ...last, at: until }))],
    binX<AreaYOptions>(
      { y2: 'last' },
      { ...columns, y1: 0, y2: share, curve: 'step-after', fill: LIGHT_BLUE },
    ),
  );
  const y = (point: TimelinePoint) => (fateOf(point) === 'answered' ? number(point) : -number(point));
  const requests = rectY(points, binX<RectYOptions>({ y: 'sum' }, { ...columns, y, fill: fateOf, inset: 0 }));
  return html`<p><b>${name}</b>${plan === undefined ? '' : ` ${plan}`} <span class="quiet">${facts.join(', ')}</span></p>
${told.length === 0 ? '' : chart(`${name}: Remaining over time`, { height: 66, x: { ...x, axis: null }, y: { domain: [0, 1], axis: null, grid: false }, marks: [remaining, ruleY([0])] })}${chart(`${name}: ${facts.join(', ')}`, { height: 70, x, y: { axis: null, grid: false }, color: COLOURS, marks: [requests, ruleY([0])] })}`;
}
