/** The steps of a search for a capacity: rate against latency (above) and errors (below). */
import { html, type SafeHtml } from '@remix-run/html-template';
import { boundsIn, round } from '../../scenarios/lib/slo.ts';
import type { CapacityResult, CapacityStep } from '../../scenarios/runner/capacity/capacity.ts';
import { decades, linear, logarithmic } from '../html/chart-frame.ts';

const WIDTH = 760;
const HEIGHT = 460;
const LEFT = 70;
const RIGHT = WIDTH - 20;
const UPPER = { top: 50, bottom: 300 };
const LOWER = { top: 340, bottom: 410 };
const HELD = '#1a7f37';
const BROKEN = '#b3261e';

/** Places of values in the picture. */
type Places = Readonly<Record<'x' | 'y' | 'errors', (value: number) => string>>;

/** Replaces what XML 1.0 cannot contain. */
const inXml = (text: string) => text.replace(/[\p{Cc}\p{Cs}\p{Noncharacter_Code_Point}]/gu, '\ufffd');

/** A place between two others. */
const between = (from: number, to: number, part: number, shift = 0) =>
  (from + (to - from) * part + shift).toFixed(1);

/** An SVG document. Latency and rate are on logarithmic scales; a step that broke is a red cross. */
export function renderCapacitySvg(result: CapacityResult): string {
  const title = inXml(`${result.run.target}: ${result.run.slo}`);
  return `${html`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12" role="img">
<title>Capacity of ${title}</title>
<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>
<text x="${LEFT}" y="20" font-size="14">${title}</text>
<text x="${LEFT}" y="38">${inXml(result.reason)}</text>
${result.steps.length === 0 ? '' : chart(result)}
</svg>`}\n`;
}

function chart({ steps, interval, capacity, run }: CapacityResult): SafeHtml {
  const rates = steps.map(({ rate }) => rate);
  const latencies = steps.flatMap(({ p50, p99 }) => [p50, p99]).filter((value) => value > 0);
  const [least, most] = [Math.min(...rates) / 1.1, Math.max(...rates) * 1.1];
  const [fastest, slowest] = [Math.min(...latencies, 1e9) / 1.2, Math.max(...latencies, 0) * 1.2];
  const mostErrors = Math.max(0.01, ...steps.map(({ errorPart }) => errorPart));
  const [rateScale, latencyScale] = [logarithmic(least, most), logarithmic(fastest, slowest)];
  const errorScale = linear(0, mostErrors);
  const x = (rate: number) => between(LEFT, RIGHT, rateScale(rate));
  const y = (ms: number, shift = 0) => between(UPPER.bottom, UPPER.top, latencyScale(ms), shift);
  const places = { x, y, errors: (part: number) => between(LOWER.bottom, LOWER.top, errorScale(part)) };
  const bounds = boundsIn(run.slo).filter(({ bound }) => bound >= fastest && bound <= slowest);
  return html`${
    interval === null
      ? ''
      : html`<path d="M${x(interval[0])} ${UPPER.top}H${x(interval[1])}V${LOWER.bottom}H${x(interval[0])}Z" fill="#0969da" stroke="#0969da" opacity="0.15"/>`
  }
${capacity === null ? '' : html`<path d="M${x(capacity)} ${UPPER.top}V${LOWER.bottom}" stroke="#0969da"/>`}
${bounds.map(
  ({
    text,
    bound,
  }) => html`<path d="M${LEFT} ${y(bound)}H${RIGHT}" stroke="${BROKEN}" stroke-dasharray="6 4"/>
<text x="${LEFT + 4}" y="${y(bound, -5)}" fill="${BROKEN}">${inXml(text)}</text>
`,
)}
${decades(least, most).map((rate) => html`<text x="${x(rate)}" y="${LOWER.bottom + 16}" text-anchor="middle">${rate}</text>`)}
${decades(fastest, slowest).map(
  (ms) =>
    html`<path d="M${LEFT} ${y(ms)}H${RIGHT}" stroke="#ddd"/><text x="${LEFT - 6}" y="${y(ms, 4)}" text-anchor="end">${ms}</text>`,
)}
${steps.map((step) => mark(step, places))}
<text x="${RIGHT}" y="${HEIGHT - 12}" text-anchor="end">requests per second</text>
${upright(UPPER.bottom, 'latency in ms: ● p99, ✕ broken, ○ p50')}
${upright(LOWER.bottom + 30, `errors to ${round(mostErrors * 100)} %`)}
<path d="M${LEFT} ${LOWER.bottom}H${RIGHT}" stroke="#888"/>`;
}

const upright = (y: number, words: string) =>
  html`<text x="16" y="${y}" transform="rotate(-90 16 ${y})">${words}</text>`;

function mark(step: CapacityStep, { x, y, errors }: Places): SafeHtml {
  const at = x(step.rate);
  const colour = step.held ? HELD : BROKEN;
  // Another shape, since many people cannot distinguish red and green.
  const shape = step.held
    ? html`<circle cx="${at}" cy="${y(step.p99)}" r="4" fill="${colour}"/>`
    : html`<path d="M${at} ${y(step.p99)}m-4 -4l8 8m0 -8l-8 8" stroke="${colour}" stroke-width="2"/>`;
  return html`<g><title>${inXml(`${round(step.rate)}/s: ${step.reason}`)}</title>${shape}
<circle cx="${at}" cy="${y(step.p50)}" r="3" fill="none" stroke="${colour}"/>
<circle cx="${at}" cy="${errors(step.errorPart)}" r="3" fill="${colour}"/></g>
`;
}
