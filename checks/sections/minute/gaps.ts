/** Section 8: the gaps about limits. */

import { type GapAnswer, type GapObserver, gap } from '../../run/check.ts';
import type { Trace } from '../../run/trace.ts';
import type { Exchange } from '../../wire/exchange.ts';
import { givesBackGradually, measurements } from './measurements.ts';
import { retryAfterFormat } from './retry-after.ts';
import { minute } from './scenes.ts';

const answer = (text: string, detail: string, exchange: Exchange | undefined): GapAnswer => ({
  answer: text,
  detail,
  evidence: exchange === undefined ? [] : [exchange],
});

const cap = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

function windowsShown(trace: Trace): GapAnswer | undefined {
  const shown = new Map<string, Exchange | undefined>();
  for (const { key: name, limit, id } of trace.readings) {
    const key = trace.run.keys.find((candidate) => candidate.name === name);
    if (key === undefined || limit === undefined) continue;
    if (limit === key.limits.perMinute && !shown.has('minute')) shown.set('minute', trace.find(id));
    if (limit === key.limits.perDay && !shown.has('day')) shown.set('day', trace.find(id));
  }
  const [only, other] = [...shown.keys()];
  if (only === undefined) return undefined;
  return other === undefined
    ? answer(only, `${cap(only)} figures in X-RateLimit-Limit`, shown.get(only))
    : answer('both', 'minute figures on some responses, day figures on others', shown.get(only));
}

export const rateLimitGaps: readonly GapObserver[] = [
  gap('rate-headers-window', {}, (_none, trace) => windowsShown(trace)),
  gap('rate-window-kind', { needs: { minutes: minute } }, ({ minutes }) => {
    const measured = measurements(minutes).find((one) => givesBackGradually(one) !== undefined);
    if (measured === undefined) return undefined;
    const { afterRetryAfter, afterReset } = measured.after ?? {};
    const exchange = afterRetryAfter ?? afterReset;
    return givesBackGradually(measured) === true
      ? answer(
          'refilling',
          'the first request after the wait found little quota: it is refilled gradually',
          exchange,
        )
      : answer('fixed', 'the first request after the wait found the whole quota', exchange);
  }),
  retryAfterFormat,
];
