/** A capacity, as capacity.json holds it: its type, the JSON Schema for other tools, and its reader. */
import { type Static, Type } from '@sinclair/typebox';
import { resultReader } from '../../../checks/run/stored-result.ts';
import { WayShape } from '../../../checks/wire/exchange-shape.ts';
import { amount, orNull, text, words } from '../../../spec/json-schema.ts';
import { MixShape } from '../../lib/messages.ts';

/** Raised when a reader of an older result could misread a newer one. */
export const CAPACITY_FORMAT_VERSION = 2;

const perSecond = Type.Number({ minimum: 0, description: 'Requests per second.' });

const StepShape = Type.Object({
  rate: perSecond,
  seconds: amount,
  requests: Type.Integer({ minimum: 0 }),
  held: Type.Boolean(),
  reason: Type.String({ description: 'What broke, or how it was held.' }),
  p50: Type.Number({ minimum: 0, description: 'Milliseconds; of the steady part, without the warm-up.' }),
  p99: amount,
  errorPart: Type.Number({ minimum: 0, maximum: 1 }),
  growth: Type.Number({ description: 'Milliseconds per second by which latency grew within the step.' }),
});
export type CapacityStep = Readonly<Static<typeof StepShape>>;

export const CapacityShape = Type.Object(
  {
    formatVersion: Type.Literal(CAPACITY_FORMAT_VERSION),
    run: Type.Object({
      target: text,
      slo: text,
      mix: MixShape,
      startedAt: Type.String({ description: 'ISO 8601, UTC.' }),
      durationSeconds: amount,
      harnessVersion: text,
      k6Version: text,
      way: Type.Optional(WayShape),
    }),
    outcome: words(
      ['found', 'at-least', 'below', 'generator-limited', 'quota-limited', 'interrupted'],
      'at-least: nothing broke up to the highest rate tried. The last three name what ended the search; there is an interval if quotas ended it late.',
    ),
    reason: text,
    capacity: orNull(perSecond),
    interval: orNull(
      Type.Unsafe<[low: number, high: number]>(Type.Array(perSecond, { minItems: 2, maxItems: 2 })),
      '95 % interval.',
    ),
    atLeast: Type.Optional(
      Type.Number({
        minimum: 0,
        description: 'The highest rate that held, if there is no interval and no lower rate broke.',
      }),
    ),
    steps: Type.Array(StepShape),
  },
  {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'https://petstore-harness.invalid/capacity.schema.json',
    title: 'Result of a search for a capacity (capacity.json)',
  },
);
export type CapacityResult = Readonly<Static<typeof CapacityShape>>;

export type CapacityFound = Pick<CapacityResult, 'outcome' | 'reason' | 'capacity' | 'interval' | 'atLeast'>;

/** Name of the result in a folder. */
export const CAPACITY_FILE = 'capacity.json';

/**
 * Reads the result of a search for a capacity: a file, or a folder with capacity.json in it.
 *
 * @throws UsageError
 */
export const readCapacity = resultReader<CapacityResult>({
  name: CAPACITY_FILE,
  what: 'the result of a capacity search',
  schema: CapacityShape,
  version: CAPACITY_FORMAT_VERSION,
});
