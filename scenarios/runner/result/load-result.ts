/** The result of one load run, as in load-report.json: its type, the JSON Schema for other tools, and its reader. */
import { type Static, Type } from '@sinclair/typebox';
import { resultReader } from '../../../checks/run/stored-result.ts';
import { WayShape } from '../../../checks/wire/exchange-shape.ts';
import { amount, count, forEach, orNull, text, texts, words } from '../../../spec/json-schema.ts';
import { PLAN_NAMES } from '../../../spec/plans.ts';
import {
  MeasurementShape,
  MixShape,
  PlannedKeyShape,
  ThresholdShape,
  ViolationShape,
} from '../../lib/messages.ts';
import { LOAD_OPERATIONS, OUTCOMES } from '../../lib/scenario.ts';

/** Raised when a reader of an older result could misread a newer one. */
export const LOAD_RESULT_FORMAT_VERSION = 4;

const RunShape = Type.Object({
  id: Type.String({ description: 'Random; names of animals that the run added begin with harness-<id>.' }),
  scenario: text,
  answers: Type.String({ description: 'The question that the scenario answers.' }),
  target: text,
  mix: MixShape,
  slo: text,
  startedAt: Type.String({ description: 'ISO 8601, UTC.' }),
  durationSeconds: Type.Number({ minimum: 0, description: 'From the first request to the end of the last.' }),
  seconds: Type.Number({ minimum: 0, description: 'As planned.' }),
  harnessVersion: text,
  k6Version: text,
  k6ExitCode: orNull(Type.Integer()),
  shards: Type.Integer({ minimum: 1 }),
  clockSpeed: Type.Number({ minimum: 0, description: 'Seconds of the target’s clock in one real second.' }),
  animalsAdded: count,
  interrupted: Type.Optional(text),
  way: Type.Optional(WayShape),
});

const HistogramShape = Type.Record(text, count, {
  description: 'How many requests took so many microseconds, to three digits.',
});
export type Histogram = Static<typeof HistogramShape>;

const CountsShape = {
  statuses: Type.Record(text, count, {
    description:
      'By HTTP status. From 1,000 on k6’s error code, as no response came. 0 was cut off at the end.',
  }),
  outcomes: forEach(OUTCOMES, count),
};

const FiguresShape = Type.Object({
  requests: count,
  perSecond: amount,
  ...CountsShape,
  latency: orNull(forEach(['mean', 'p50', 'p90', 'p95', 'p99', 'p999', 'max'], amount, 'Milliseconds.')),
});
export type LoadFigures = Static<typeof FiguresShape>;

const BlockShape = Type.Object({
  at: Type.Number({ description: 'Start, milliseconds since 1970: a multiple of the block’s length.' }),
  ...CountsShape,
  histogram: HistogramShape,
});
export type StoredBlock = Static<typeof BlockShape>;

const SeriesShape = Type.Object({
  stream: Type.String({ description: '“clients” arrive at a rate; others are named by the scenario.' }),
  operation: words(LOAD_OPERATIONS),
  plan: words(PLAN_NAMES),
  ...FiguresShape.properties,
  blockSeconds: amount,
  blocks: Type.Array(BlockShape),
});
export type LoadSeries = Static<typeof SeriesShape>;

const GeneratorShape = Type.Object({
  droppedIterations: Type.Integer({
    minimum: 0,
    description: 'Arrivals that were not sent: no user was free.',
  }),
  scheduleLagP95Ms: orNull(
    Type.Number({ description: 'How late arrivals began; null without a constant rate.' }),
  ),
  cpuMeanPart: orNull(
    Type.Number({ description: 'The part of all cores that k6 used; null if not measured.' }),
  ),
  memoryPeakBytes: orNull(amount),
  errorLines: texts,
  limit: orNull(Type.String({ description: 'Why the generator was the limit; null if it was not.' })),
});

export const LoadResultShape = Type.Object(
  {
    formatVersion: Type.Literal(LOAD_RESULT_FORMAT_VERSION),
    run: RunShape,
    verdict: words(
      ['held', 'broken', 'generator-limited', 'interrupted', 'failed-to-run'],
      'generator-limited: the machine that made the load was the limit, the figures say nothing of the target.',
    ),
    notes: texts,
    series: Type.Array(SeriesShape),
    total: FiguresShape,
    thresholds: Type.Array(ThresholdShape),
    generator: GeneratorShape,
    violations: Type.Array(
      Type.Object({
        requirement: Type.String({ description: 'Id in spec/requirements.yaml.' }),
        reported: Type.Integer({
          minimum: 0,
          description: 'At least: each user reports only its first few.',
        }),
        example: ViolationShape,
      }),
    ),
    measurements: Type.Array(MeasurementShape),
    keys: Type.Array(PlannedKeyShape, { description: 'Those that paid, and what was planned at most.' }),
  },
  {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'https://petstore-harness.invalid/load-result.schema.json',
    title: 'Result of a load run (load-report.json)',
  },
);
export type LoadResult = Readonly<Static<typeof LoadResultShape>>;

/** Name of the result in a folder. */
export const LOAD_FILE = 'load-report.json';

/**
 * Reads a load result: a file, or a folder with load-report.json in it.
 *
 * @throws UsageError
 */
export const readLoadResult = resultReader<LoadResult>({
  name: LOAD_FILE,
  what: 'a load result',
  schema: LoadResultShape,
  version: LOAD_RESULT_FORMAT_VERSION,
});
