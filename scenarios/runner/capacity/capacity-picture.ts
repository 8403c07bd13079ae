/** The steps of a search for a capacity as a picture: rate against latency (above) and errors (below). */
import { html, type SafeHtml } from '@remix-run/html-template';
import { latencyBounds, round } from '../../lib/slo.ts';
import type { CapacityResult, CapacityStep } from './capacity.ts';

const WIDTH = 760;
const HEIGHT = 460;
const LEFT = 70;
const RIGHT = WIDTH - 20;
const UPPER = { top: 50, bottom: 300 };
const LOWER = { top: 340, bottom: 410 };
const HELD = '#1a7f37';
const BROKEN = '#b3261e';

/** Where values stand in the picture. */
interface Scales {
  readonly x: (rate: number) => number;
  readonly y: (ms: number) => number;
  readonly errors: (part: number) => number;
}

/** What XML 1.0 cannot hold is replaced. */
const inXml = (text: string) => text.replace(/[\p{Cc}\p{Cs}\p{Noncharacter_Code_Point}]/gu, '\ufffd');

const px = (value: number) => value.toFixed(1);

/** Places for values between two, on a logarithmic scale. */
function logScale(from: number, to: number, start: number, end: number): (value: number) => number {
  const span = Math.log(to / from) || 1;
  return (value) => start + ((end - start) * Math.log(Math.max(value, from) / from)) / span;
}

/** 1, 2 and 5 of each power of ten. */
function ticks(from: number, to: number): number[] {
  const powers = Math.ceil(Math.log10(to)) - Math.floor(Math.log10(from)) + 1;
  return Array.from({ length: powers }, (_, place) => 10 ** (Math.floor(Math.log10(from)) + place))
    .flatMap((power) => [power, 2 * power, 5 * power])
    .filter((value) => value >= from && value <= to);
}

/** An SVG document. Latency and rate are on logarithmic scales; a step that broke is a red cross. */
export function renderCapacityPicture(result: CapacityResult): string {
  const title = inXml(`${result.run.target}: ${result.run.slo}`);
  const drawn = result.steps.length === 0 ? '' : chart(result);
  return `${html`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12" role="img">
<title>Capacity of ${title}</title>
<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>
<text x="${LEFT}" y="20" font-size="14">${title}</text>
<text x="${LEFT}" y="38">${inXml(result.reason)}</text>
${drawn}
</svg>`}\n`;
}

function chart({ steps, interval, capacity, run }: CapacityResult): SafeHtml {
  const rates = steps.map(({ rate }) => rate);
  const latencies = steps.flatMap(({ p50, p99 }) => [p50, p99]).filter((value) => value > 0);
  const [least, most] = [Math.min(...rates) / 1.1, Math.max(...rates) * 1.1];
  const [fastest, slowest] = [Math.min(...latencies, 1e9) / 1.2, Math.max(...latencies, 0) * 1.2];
  const mostErrors = Math.max(0.01, ...steps.map(({ errorPart }) => errorPart));
  const scales: Scales = {
    x: logScale(least, most, LEFT, RIGHT),
    y: logScale(fastest, slowest, UPPER.bottom, UPPER.top),
    errors: (part) => LOWER.bottom - ((LOWER.bottom - LOWER.top) * part) / mostErrors,
  };
  const { x, y } = scales;
  const band = interval === null ? '' : bandFrom(x(interval[0]), x(interval[1]));
  const at = capacity === null ? '' : line(x(capacity), x(capacity), UPPER.top, LOWER.bottom, '#0969da');
  const bounds = latencyBounds(run.slo).filter(({ bound }) => bound >= fastest && bound <= slowest);
  return html`${band}
${at}
${bounds.map(
  ({
    text,
    bound,
  }) => html`<line x1="${LEFT}" x2="${RIGHT}" y1="${px(y(bound))}" y2="${px(y(bound))}" stroke="${BROKEN}" stroke-dasharray="6 4"/>
<text x="${LEFT + 4}" y="${px(y(bound) - 5)}" fill="${BROKEN}">${inXml(text)}</text>
`,
)}
${ticks(least, most).map((rate) => html`<text x="${px(x(rate))}" y="${LOWER.bottom + 16}" text-anchor="middle">${rate}</text>`)}
${ticks(fastest, slowest).map(
  (ms) =>
    html`${line(LEFT, RIGHT, y(ms), y(ms), '#ddd')}<text x="${LEFT - 6}" y="${px(y(ms) + 4)}" text-anchor="end">${ms}</text>`,
)}
${steps.map((step) => mark(step, scales))}
<text x="${RIGHT}" y="${HEIGHT - 12}" text-anchor="end">requests per second</text>
${upright(UPPER.bottom, 'latency in ms: ● p99, ✕ broken, ○ p50')}
${upright(LOWER.bottom + 30, `errors to ${round(mostErrors * 100)} %`)}
${line(LEFT, RIGHT, LOWER.bottom, LOWER.bottom, '#888')}`;
}

const line = (x1: number, x2: number, y1: number, y2: number, colour: string) =>
  html`<line x1="${px(x1)}" x2="${px(x2)}" y1="${px(y1)}" y2="${px(y2)}" stroke="${colour}"/>`;

const bandFrom = (from: number, to: number) =>
  html`<rect x="${px(from)}" y="${UPPER.top}" width="${px(Math.max(1, to - from))}" height="${LOWER.bottom - UPPER.top}" fill="#0969da" opacity="0.15"/>`;

const upright = (y: number, words: string) =>
  html`<text x="16" y="${y}" transform="rotate(-90 16 ${y})">${words}</text>`;

function mark(step: CapacityStep, { x, y, errors }: Scales): SafeHtml {
  const colour = step.held ? HELD : BROKEN;
  const [at, middle] = [x(step.rate), y(step.p99)];
  const [left, right] = [px(at - 4), px(at + 4)];
  // A shape of its own: red and green are one colour to many.
  const shape = step.held
    ? html`<circle cx="${px(at)}" cy="${px(middle)}" r="4" fill="${colour}"/>`
    : html`<path d="M${left} ${px(middle - 4)}L${right} ${px(middle + 4)}M${left} ${px(middle + 4)}L${right} ${px(middle - 4)}" stroke="${colour}" stroke-width="2"/>`;
  return html`<g><title>${inXml(`${round(step.rate)}/s: ${step.reason}`)}</title>${shape}
<circle cx="${px(at)}" cy="${px(y(step.p50))}" r="3" fill="none" stroke="${colour}"/>
<circle cx="${px(at)}" cy="${px(errors(step.errorPart))}" r="3" fill="${colour}"/></g>
`;
}
