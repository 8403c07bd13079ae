import { html, type SafeHtml } from '@remix-run/html-template';
import { percentilesOf } from '../../scenarios/runner/result/figures.ts';
import type { LoadSeries } from '../../scenarios/runner/result/load-result.ts';
import { chart, latencyAxis, legend, line, linear, strokeOf } from '../html/chart.ts';

const PERCENTILES = [0, 50, 90, 99, 99.9, 99.99, 99.999];

/** 2 for the 99th percentile, 3 for the 99.9th: on the axis each further nine has the same width. */
const nines = (percentile: number) => -Math.log10(1 - percentile / 100);

/**
 * Latency by percentile, one line for each series.
 *
 * @param names the names of the series
 */
export function latencyChart(all: readonly LoadSeries[], names: readonly string[]): SafeHtml {
  const reachOf = (requests: number) => Math.log10(Math.max(10, requests));
  const most = Math.min(5, Math.max(2, ...all.map(({ requests }) => reachOf(requests))));
  const curves = all.flatMap(({ requests, latency }, index) => {
    if (latency === null) return [];
    const percentile = percentilesOf(latency.histogram);
    const reach = Math.min(most, reachOf(requests));
    const points = Array.from({ length: 101 }, (_, step) => {
      const at = (reach * step) / 100;
      return [at, percentile(100 * (1 - 10 ** -at))] as const;
    });
    return [{ name: names[index] ?? '', points }];
  });
  if (curves.length === 0) return html`<p class="quiet">No request was answered.</p>`;
  const ticks = PERCENTILES.filter((value) => nines(value) <= most * 1.001).map((value) => ({
    value: nines(value),
    text: value === 0 ? 'fastest' : `${value} %`,
  }));
  const label = `Latency by percentile: ${curves.map(({ name }) => name).join('; ')}`;
  const y = latencyAxis(curves.flatMap(({ points }) => points.map(([, value]) => value)));
  const lines = curves.map(({ name, points }, index) => {
    const [colour, dash] = strokeOf(index);
    return line(name, colour, points, dash);
  });
  return html`${legend(lines)}
${chart({ label, height: 220, x: linear(0, most, ticks), y }, lines)}`;
}
