import { html, type SafeHtml } from '@remix-run/html-template';
import { latencyOf } from '../../scenarios/runner/result/figures.ts';
import type { LoadSeries } from '../../scenarios/runner/result/load-result.ts';
import { chart, latencyAxis, legend, strokeOf } from '../html/chart.ts';
import { lineY } from '../html/plot.ts';

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
  const curves = all.flatMap((series, index) => {
    const { requests } = series;
    if (series.latency === null) return [];
    const percentile = latencyOf([series]);
    const reach = Math.min(most, reachOf(requests));
    const points = Array.from({ length: 101 }, (_, step) => {
      const at = (reach * step) / 100;
      return [at, percentile(100 * (1 - 10 ** -at))] as const;
    });
    return [{ name: names[index] ?? '', points }];
  });
  if (curves.length === 0) return html`<p class="quiet">No request was answered.</p>`;
  const ticks = PERCENTILES.filter((value) => nines(value) <= most * 1.001);
  const x = {
    domain: [0, most],
    ticks: ticks.map(nines),
    tickFormat: (_: number, index: number) => (index === 0 ? 'fastest' : `${ticks[index]} %`),
  };
  const y = latencyAxis(curves.flatMap(({ points }) => points.map(([, value]) => value)));
  const label = `Latency by percentile: ${curves.map(({ name }) => name).join('; ')}`;
  const marks = curves.map(({ points }, index) =>
    lineY(points, { x: '0', y: '1', ...strokeOf(index).style }),
  );
  return html`${legend(curves.map(({ name }, index) => [name, ...strokeOf(index).entry]))}
${chart(label, { height: 220, x, y, marks })}`;
}
