/** A search for a capacity, for a person at a terminal. */

import { round } from '../../lib/slo.ts';
import type { CapacityResult, CapacityStep } from './capacity.ts';

/** One line a step, as it is taken. */
export function renderStep({ phase, rate, held, p50, p99, reason }: CapacityStep): string {
  const figures = `p50 ${round(p50)} ms, p99 ${round(p99)} ms`;
  return `  ${phase.padEnd(7)} ${rate.toFixed(1).padStart(9)}/s  ${held ? '✓' : '✗'} ${figures}${held ? '' : `  ${reason}`}`;
}

const BOUNDS = {
  'at-least': 'the highest rate tried',
  'quota-limited': 'limited by the plans’ quotas',
  'generator-limited': 'as much as this machine could make',
} as const satisfies Partial<Record<CapacityResult['outcome'], string>>;

/** A rate that certainly holds, and why none above it was tried; undefined unless that is the answer. */
export function lowerBound({
  outcome,
  atLeast,
}: CapacityResult): { readonly rate: number; readonly why: string } | undefined {
  if (atLeast === undefined || outcome === 'found' || outcome === 'below' || outcome === 'interrupted')
    return undefined;
  return { rate: atLeast, why: BOUNDS[outcome] };
}

/** The outcome in a few lines. */
export function renderCapacity(result: CapacityResult): string {
  const { run, outcome, reason, capacity, interval, steps, failedStep } = result;
  const head =
    `capacity of ${run.target} for ${run.slo}, ${steps.length} steps, ${Math.round(run.durationSeconds)} s` +
    (failedStep === undefined ? '' : `\nnot made: ${round(failedStep.rate)}/s: ${failedStep.reason}`);
  const bound = lowerBound(result);
  if (bound !== undefined)
    return `${head}\n\nat least ${round(bound.rate)} requests/s (${bound.why}): ${reason}\n`;
  if (capacity === null || interval === null) return `${head}\n\nNO CAPACITY (${outcome}): ${reason}\n`;
  const half = (interval[1] - interval[0]) / 2 / capacity;
  return (
    `${head}\n\n${capacity.toFixed(1)} requests/s, 95 % interval ${interval[0].toFixed(1)} to ${interval[1].toFixed(1)} ` +
    `(±${(half * 100).toFixed(1)} %)${outcome === 'found' ? '' : `, ${outcome}: ${reason}`}\n`
  );
}
