import { html, type SafeHtml } from '@remix-run/html-template';
import { histogramFrom } from '../../scenarios/runner/result/figures.ts';
import type { LoadSeries } from '../../scenarios/runner/result/load-result.ts';
import { decades, frame, legend, lineClass, logarithmic, milliseconds, path } from '../html/chart-frame.ts';

const OPERATIONS = ['listPets', 'getPet', 'createPet'];
const PLANS = ['free', 'pro', 'business', 'enterprise'];

/** Series by stream, operation and plan: a run records them in the order of their first request. */
export function inOrder(all: readonly LoadSeries[]): LoadSeries[] {
  const place = ({ operation, plan }: LoadSeries) =>
    OPERATIONS.indexOf(operation) * PLANS.length + PLANS.indexOf(plan);
  return [...all].sort((a, b) => a.stream.localeCompare(b.stream) || place(a) - place(b));
}

/** What each series is called: operation and plan, and its stream where there are several. */
export function seriesNames(all: readonly LoadSeries[]): string[] {
  const streams = new Set(all.map(({ stream }) => stream));
  return all.map(({ stream, operation, plan }) =>
    [...(streams.size > 1 ? [stream] : []), operation, plan].join(', '),
  );
}

/** Latency by percentile, a line per operation and plan; the axis gives each further nine the same room. */
export function latencyChart(all: readonly LoadSeries[]): SafeHtml {
  const names = seriesNames(all);
  const series = all
    .map((one, index) => ({ ...one, name: names[index] ?? '' }))
    .filter(({ requests }) => requests > 0);
  const most = Math.min(5, Math.max(2, Math.log10(Math.max(10, ...series.map(({ requests }) => requests)))));
  const curves = series.flatMap((one) => {
    if (one.latency === null) return [];
    const histogram = histogramFrom(one.latency.histogram);
    const reach = Math.min(most, Math.log10(Math.max(10, one.requests)));
    return [
      {
        name: one.name,
        points: Array.from({ length: 101 }, (_, index) => {
          const nines = (reach * index) / 100;
          return [nines / most, histogram.getValueAtPercentile(100 * (1 - 10 ** -nines)) / 1000] as const;
        }),
      },
    ];
  });
  if (curves.length === 0) return html`<p class="quiet">No request was answered.</p>`;
  const values = curves.flatMap(({ points }) => points.map(([, value]) => value));
  const [least, top] = [Math.max(0.01, Math.min(...values)) / 1.2, Math.max(0.02, ...values) * 1.2];
  const y = logarithmic(least, top);
  const percentiles = [
    [0, 'fastest'],
    [50, '50 %'],
    [90, '90 %'],
    [99, '99 %'],
    [99.9, '99.9 %'],
    [99.99, '99.99 %'],
    [99.999, '99.999 %'],
  ] as const;
  const x = percentiles
    .map(([value, text]) => ({
      at: -Math.log10(1 - value / 100) / most,
      text,
      needs: value === 0 ? 600 : 300,
    }))
    .filter(({ at }) => at <= 1.001);
  return html`${legend(curves.map(({ name }) => name))}<div class="chart">${frame(
    {
      label: `Latency by percentile: ${curves.map(({ name }) => name).join('; ')}`,
      height: 300,
      x,
      y: decades(least, top).map((value) => ({ at: y(value), text: milliseconds(value) })),
    },
    html`${curves.map(({ points }, index) => html`<path class="${lineClass(index)}" d="${path(points.map(([at, value]) => [at, y(value)]))}" />`)}`,
  )}</div>`;
}
