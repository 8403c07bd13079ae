/** The log of a k6 runner that left nothing else, as a load result. */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { Ajv } from 'ajv';
import { HARNESS_VERSION } from '../../../checks/run/harness-version.ts';
import { createRedactor } from '../../../checks/wire/redaction.ts';
import { EVENT_MARK, RUN_MARK, SAMPLES_MARK } from '../../lib/sample.ts';
import type { PlannedKey } from '../../lib/scenario.ts';
import { judgeClauses } from '../result/assemble-result.ts';
import { LOAD_RESULT_FORMAT_VERSION, type LoadResult } from '../result/load-result.ts';
import { ResultUnreadable } from '../result/read-result.ts';
import { combine, SampleStore } from '../result/sample-store.ts';
import { number, object, text } from '../result/schema-parts.ts';
import { parseSlo } from '../result/slo.ts';
import { EventLog } from './event-log.ts';
import { generatorHealth } from './generator-health.ts';
import { PINNED_K6 } from './k6-binary.ts';

/** What a runner says at its end (scenarios/lib/script.ts). */
interface RunFacts {
  readonly scenario: string;
  readonly runId: string;
  readonly target: string;
  readonly keys: readonly PlannedKey[];
  readonly streams: readonly string[];
  readonly report: { readonly answers: string; readonly slo: string; readonly blockSeconds: number };
  readonly clockSpeed: number;
  readonly dropped: number;
}

const isRunFacts = new Ajv({ strict: true }).compile<RunFacts>(
  object({
    scenario: text,
    runId: text,
    target: text,
    keys: {
      type: 'array',
      items: object({
        name: text,
        plan: { enum: ['free', 'pro', 'business', 'enterprise'] },
        env: text,
        perMinute: number,
        perDay: number,
      }),
    },
    streams: { type: 'array', items: text },
    report: object({ answers: text, slo: text, blockSeconds: { type: 'number', minimum: 0.1 } }),
    clockSpeed: number,
    dropped: number,
  }),
);

/** The message of a line of k6's JSON log, with its level; the line itself where it is none. */
function messageOf(line: string): { level: string; message: string } {
  try {
    const parsed: unknown = JSON.parse(line);
    if (typeof parsed === 'object' && parsed !== null && 'msg' in parsed && 'level' in parsed) {
      return { level: String(parsed.level), message: String(parsed.msg) };
    }
  } catch {
    // Not the logger's.
  }
  return { level: 'plain', message: line };
}

/**
 * Reads a runner's log: standard output and error together, as `kubectl logs` gives them.
 *
 * @throws ResultUnreadable for a log without the line in which a runner says what it ran
 */
export async function readRunnerLog(file: string): Promise<LoadResult> {
  const samples: string[] = [];
  const events = new EventLog(createRedactor([]));
  let facts: RunFacts | undefined;
  try {
    for await (const line of createInterface({ input: createReadStream(file) })) {
      const { level, message } = messageOf(line);
      if (message.startsWith(SAMPLES_MARK)) samples.push(message.slice(SAMPLES_MARK.length));
      else if (message.startsWith(EVENT_MARK)) events.add(message.slice(EVENT_MARK.length));
      else if (message.startsWith(RUN_MARK)) {
        const parsed: unknown = JSON.parse(message.slice(RUN_MARK.length));
        if (isRunFacts(parsed)) facts = parsed;
      } else events.log(level, message, () => {});
    }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'not what a runner writes';
    throw new ResultUnreadable(`${file} cannot be read (${code})`);
  }
  if (facts === undefined) {
    throw new ResultUnreadable(
      `${file} is no complete log of a runner: it does not say at its end what was run`,
    );
  }
  const store = new SampleStore({ streams: facts.streams, keys: facts.keys }, facts.report.blockSeconds);
  for (const line of samples)
    if (!store.addLine(line)) events.problem('the log has samples that cannot be read');
  const series = store.series();
  const span = store.span();
  const durationSeconds = span === undefined ? 0 : (span.last - span.first) / 1000;
  const total = combine(series, durationSeconds);
  const thresholds = [...judgeClauses(parseSlo(facts.report.slo), series), ...events.outcomes()];
  const generator = generatorHealth({
    usages: [],
    lags: events.lags(),
    droppedIterations: facts.dropped,
    errorLines: events.errorLines,
    total,
    peakRate: total.perSecond,
    vus: 0,
  });
  const failed = total.requests === 0 || events.errorLines.length > 0;
  const held = thresholds.every((outcome) => outcome.held);
  return {
    formatVersion: LOAD_RESULT_FORMAT_VERSION,
    run: {
      id: facts.runId,
      scenario: facts.scenario,
      answers: facts.report.answers,
      target: facts.target,
      startedAt: new Date(span?.first ?? 0).toISOString(),
      durationSeconds,
      harnessVersion: HARNESS_VERSION,
      k6Version: PINNED_K6,
      k6ExitCode: null,
      shards: 1,
      clockSpeed: facts.clockSpeed,
      animalsAdded: events.addedIds.length,
    },
    verdict: failed
      ? 'failed-to-run'
      : generator.limit !== null
        ? 'generator-limited'
        : held
          ? 'held'
          : 'broken',
    notes: [],
    series,
    total,
    thresholds,
    generator,
    violations: events.violations(),
    measurements: events.measurements.map(({ name, key, value, unit }) => ({ name, key, value, unit })),
    bill: {
      keys: facts.keys.flatMap(({ name, plan, perMinute, perDay }) => {
        const spent = store.keys().get(name);
        return spent === undefined
          ? []
          : [
              {
                key: name,
                plan,
                requests: spent.sent,
                busiestMinute: spent.sent,
                perMinute,
                perDay,
                ...spent,
              },
            ];
      }),
      total: total.requests,
    },
  };
}
