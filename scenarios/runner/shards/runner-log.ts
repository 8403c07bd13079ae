/** Makes a load result from the log of a k6 runner, which leaves nothing else. */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { Ajv } from 'ajv/dist/jtd.js';
import { createRedactor } from '../../../checks/wire/redaction.ts';
import { HARNESS_VERSION } from '../../../spec/harness-version.ts';
import { RUN_FACTS, type RunFacts } from '../../lib/events.ts';
import { EVENT_MARK, RUN_MARK, SAMPLES_MARK } from '../../lib/sample.ts';
import { parseSlo } from '../../lib/slo.ts';
import { EventLog } from '../k6/event-log.ts';
import { PINNED_K6 } from '../k6/k6-binary.ts';
import { logLine } from '../k6/k6-process.ts';
import type { KeyBill } from '../quota/quota.ts';
import { LOAD_RESULT_FORMAT_VERSION, type LoadResult } from '../result/load-result.ts';
import { ResultUnreadable } from '../result/read-result.ts';
import { recorded, verdictOf } from '../result/recorded.ts';
import { SampleStore } from '../result/sample-store.ts';

const isRunFacts = new Ajv().compile<RunFacts>(RUN_FACTS);

/**
 * Reads a runner's log: standard output and error together, as `kubectl logs` gives them.
 *
 * @throws ResultUnreadable for a log that lacks the line in which a runner says what it ran
 */
export async function readRunnerLog(file: string): Promise<LoadResult> {
  const samples: string[] = [];
  const events = new EventLog(createRedactor([]));
  let facts: RunFacts | undefined;
  try {
    for await (const line of createInterface({ input: createReadStream(file) })) {
      const { level, message } = logLine(line);
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
    throw new ResultUnreadable(`${file} is not a complete runner log: its summary at the end is missing`);
  }
  const store = new SampleStore({ streams: facts.streams, keys: facts.keys }, facts.report.blockSeconds);
  for (const line of samples)
    if (!store.addLine(line)) events.problem('the log has samples that cannot be read');
  const { report, dropped: droppedIterations } = facts;
  const { durationSeconds, ...measured } = recorded(store, {
    events,
    clauses: parseSlo(report.slo),
    usages: [],
    droppedIterations,
    vus: 0,
  });
  return {
    formatVersion: LOAD_RESULT_FORMAT_VERSION,
    run: {
      id: facts.runId,
      scenario: facts.scenario,
      answers: report.answers,
      target: facts.target,
      startedAt: new Date(store.span()?.first ?? 0).toISOString(),
      durationSeconds,
      harnessVersion: HARNESS_VERSION,
      k6Version: PINNED_K6,
      k6ExitCode: null,
      shards: 1,
      clockSpeed: facts.clockSpeed,
      animalsAdded: events.addedIds.length,
    },
    verdict: verdictOf(measured),
    notes: [],
    ...measured,
    bill: { keys: paidRows(facts, store), total: measured.total.requests },
  };
}

/** What the runner's keys paid for; there was no bill here. */
function paidRows({ keys }: RunFacts, store: SampleStore): KeyBill[] {
  return keys.flatMap(({ name, plan, perMinute, perDay }) => {
    const paid = store.keys().get(name);
    if (paid === undefined) return [];
    return [{ key: name, plan, requests: paid.sent, busiestMinute: paid.sent, perMinute, perDay, ...paid }];
  });
}
