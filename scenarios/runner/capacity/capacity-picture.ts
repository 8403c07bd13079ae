/** The steps of a search for a capacity as a picture: rate against latency (above) and errors (below). */

import { latencyBounds, round } from '../../lib/slo.ts';
import type { CapacityResult, CapacityStep } from './capacity.ts';

const WIDTH = 760;
const HEIGHT = 460;
const LEFT = 70;
const RIGHT = 20;
const UPPER = { top: 50, bottom: 300 };
const LOWER = { top: 340, bottom: 410 };
const HELD = '#1a7f37';
const BROKEN = '#b3261e';

/** Text as XML; what XML 1.0 cannot hold is replaced. */
function escaped(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Cs}\p{Noncharacter_Code_Point}]/gu, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

/** Places for values between two, on a logarithmic scale. */
function logScale(from: number, to: number, start: number, end: number): (value: number) => number {
  const span = Math.log(to / from) || 1;
  return (value) => start + ((end - start) * Math.log(Math.max(value, from) / from)) / span;
}

function ticks(from: number, to: number): number[] {
  const found: number[] = [];
  for (let power = Math.floor(Math.log10(from)); power <= Math.ceil(Math.log10(to)); power += 1) {
    for (const digit of [1, 2, 5]) {
      const value = digit * 10 ** power;
      if (value >= from && value <= to) found.push(value);
    }
  }
  return found;
}

/** An SVG document. Latency and rate are on logarithmic scales; a step that broke is a red cross. */
export function renderCapacityPicture(result: CapacityResult): string {
  const { steps, interval, capacity } = result;
  const rates = steps.map(({ rate }) => rate);
  const latencies = steps.flatMap(({ p50, p99 }) => [p50, p99]).filter((value) => value > 0);
  const [least, most] = [Math.min(...rates, 1e9) / 1.1, Math.max(...rates, 0) * 1.1];
  const [fastest, slowest] = [Math.min(...latencies, 1e9) / 1.2, Math.max(...latencies, 0) * 1.2];
  const title = `${result.run.target}: ${result.run.slo}`;
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12" role="img">`,
    `<title>${escaped(`Capacity of ${title}`)}</title>`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>`,
    `<text x="${LEFT}" y="20" font-size="14">${escaped(title)}</text>`,
    `<text x="${LEFT}" y="38">${escaped(result.reason)}</text>`,
  ];
  if (steps.length > 0) {
    const x = logScale(least, most, LEFT, WIDTH - RIGHT);
    const y = logScale(fastest, slowest, UPPER.bottom, UPPER.top);
    const most100 = Math.max(0.01, ...steps.map(({ errorPart }) => errorPart));
    const errorY = (part: number) => LOWER.bottom - ((LOWER.bottom - LOWER.top) * part) / most100;
    if (interval !== null) {
      const [from, to] = interval.map(x);
      parts.push(
        `<rect x="${px(from)}" y="${UPPER.top}" width="${px(Math.max(1, (to ?? 0) - (from ?? 0)))}" height="${LOWER.bottom - UPPER.top}" fill="#0969da" opacity="0.15"/>`,
      );
    }
    if (capacity !== null) {
      parts.push(
        `<line x1="${px(x(capacity))}" x2="${px(x(capacity))}" y1="${UPPER.top}" y2="${LOWER.bottom}" stroke="#0969da"/>`,
      );
    }
    for (const { text, bound } of latencyBounds(result.run.slo)) {
      if (bound < fastest || bound > slowest) continue;
      parts.push(
        `<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${px(y(bound))}" y2="${px(y(bound))}" stroke="${BROKEN}" stroke-dasharray="6 4"/>`,
        `<text x="${LEFT + 4}" y="${px(y(bound) - 5)}" fill="${BROKEN}">${escaped(text)}</text>`,
      );
    }
    for (const value of ticks(least, most)) {
      parts.push(`<text x="${px(x(value))}" y="${LOWER.bottom + 16}" text-anchor="middle">${value}</text>`);
    }
    for (const value of ticks(fastest, slowest)) {
      parts.push(
        `<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${px(y(value))}" y2="${px(y(value))}" stroke="#ddd"/>`,
        `<text x="${LEFT - 6}" y="${px(y(value) + 4)}" text-anchor="end">${value}</text>`,
      );
    }
    for (const step of steps) parts.push(...marks(step, x(step.rate), y, errorY));
    parts.push(
      `<text x="${WIDTH - RIGHT}" y="${HEIGHT - 12}" text-anchor="end">requests per second</text>`,
      `<text x="16" y="${UPPER.bottom}" transform="rotate(-90 16 ${UPPER.bottom})">latency in ms: ● p99, ✕ broken, ○ p50</text>`,
      `<text x="16" y="${LOWER.bottom + 30}" transform="rotate(-90 16 ${LOWER.bottom + 30})">errors to ${round(most100 * 100)} %</text>`,
      `<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${LOWER.bottom}" y2="${LOWER.bottom}" stroke="#888"/>`,
    );
  }
  parts.push('</svg>');
  return `${parts.join('\n')}\n`;
}

const px = (value: number | undefined) => (value ?? 0).toFixed(1);

function marks(
  step: CapacityStep,
  x: number,
  y: (ms: number) => number,
  errorY: (part: number) => number,
): string[] {
  const colour = step.held ? HELD : BROKEN;
  const words = `${round(step.rate)}/s: ${step.reason}`;
  const [left, right, middle] = [px(x - 4), px(x + 4), y(step.p99)];
  return [
    `<g><title>${escaped(words)}</title>`,
    // A shape of its own: red and green are one colour to many.
    step.held
      ? `<circle cx="${px(x)}" cy="${px(middle)}" r="4" fill="${colour}"/>`
      : `<path d="M${left} ${px(middle - 4)}L${right} ${px(middle + 4)}M${left} ${px(middle + 4)}L${right} ${px(middle - 4)}" stroke="${colour}" stroke-width="2"/>`,
    `<circle cx="${px(x)}" cy="${px(y(step.p50))}" r="3" fill="none" stroke="${colour}"/>`,
    `<circle cx="${px(x)}" cy="${px(errorY(step.errorPart))}" r="3" fill="${colour}"/></g>`,
  ];
}
