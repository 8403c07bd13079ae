/** k6's own figures of a run, as its API tells them at the end (scenarios/lib/script.ts, teardown). */
import { Ajv } from 'ajv';
import { number, object, text } from './schema-parts.ts';

/** One of k6's metrics: a trend, a rate, a counter or a gauge, and its values by the name that k6 gives them. */
export interface K6Metric {
  readonly type: string;
  readonly contains: string;
  readonly values: Readonly<Record<string, number>>;
}

/** k6's metrics by name; summary.json has them as k6's own summary would. */
export interface K6Figures {
  readonly metrics: Readonly<Record<string, K6Metric>>;
}

interface Answer {
  readonly data: readonly {
    readonly id: string;
    readonly attributes: {
      readonly type: string;
      readonly contains: string;
      readonly sample: Readonly<Record<string, number>>;
    };
  }[];
}

const isAnswer = new Ajv({ strict: true }).compile<Answer>(
  object({
    data: {
      type: 'array',
      items: object({
        id: text,
        attributes: object({
          type: text,
          contains: text,
          sample: { type: 'object', additionalProperties: number },
        }),
      }),
    },
  }),
);

/**
 * What k6's end-of-test summary costs, 3 % of its CPU, buys nothing here: the report is made from the samples. Its
 * metrics are kept once, for its API.
 */
export const OWN_FIGURES = '--summary-mode=disabled';

/** The figures in an answer to GET /v1/metrics; undefined where it is none. */
export function readK6Figures(json: string): K6Figures | undefined {
  let answer: unknown;
  try {
    answer = JSON.parse(json);
  } catch {
    return undefined;
  }
  if (!isAnswer(answer)) return undefined;
  const metrics = answer.data.map(
    ({ id, attributes: { type, contains, sample } }) => [id, { type, contains, values: sample }] as const,
  );
  return { metrics: Object.fromEntries(metrics.toSorted(([a], [b]) => (a < b ? -1 : 1))) };
}

/** `dropped_iterations`; 0 where none was dropped. */
export function droppedIn({ metrics }: K6Figures): number {
  return metrics['dropped_iterations']?.values['count'] ?? 0;
}
