/** What k6 processes tell of a load in their logs (messages.ts), and the part of a result that it makes. */

import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { type Static, Type } from '@sinclair/typebox';
import { TypeCompiler } from '@sinclair/typebox/compiler';
import { UsageError } from '../../../checks/profile/usage-error.ts';
import { type Redact, redactorOf } from '../../../checks/wire/redaction.ts';
import { HARNESS_VERSION } from '../../../spec/harness-version.ts';
import { scenarioNamed } from '../../lib/catalogue.ts';
import { peakOf } from '../../lib/load-profiles.ts';
import { type LoadPlan, type Message, MessageShape, type ThresholdOutcome } from '../../lib/messages.ts';
import { MARK } from '../../lib/scenario.ts';
import { round } from '../../lib/slo.ts';
import { quantile } from '../../lib/statistics.ts';
import { PINNED_K6 } from '../k6/k6-binary.ts';
import type { ProcessUsage } from '../k6/k6-process.ts';
import { Samples } from './figures.ts';
import type { LoadResult } from './load-result.ts';

const LoggedShape = Type.Object({
  level: Type.String(),
  msg: Type.String(),
  error: Type.Optional(Type.Unknown()),
});
const isLogged = TypeCompiler.Compile(LoggedShape);
const isMessage = TypeCompiler.Compile(MessageShape);

/** What a text is as JSON; undefined if it is none, or nobody wrote it for us. */
function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

/** What the logger wrote: it writes JSON. What k6 prints before it sets up the logger is plain text. */
function loggedIn(line: string): Static<typeof LoggedShape> {
  const logged = parse(line);
  return isLogged.Check(logged) ? logged : { level: 'plain', msg: line };
}

function messageIn(said: string): Message | undefined {
  const message = parse(said.slice(MARK.length));
  return isMessage.Check(message) ? message : undefined;
}

/** If one arrival in twenty is later than this, the rate was not even. */
const LAG_ALLOWED_MS = 250;
const CPU_ALLOWED = 0.9;
const DROPS_ALLOWED = 0.01;

const MOST_ERROR_LINES = 20;
const MOST_LINE = 500;
/** If the target is down, k6 logs a line for every request. */
const MOST_NOTED_LINES = 10;
/** What k6 logs when the runner stops it, which the runner itself explains, and of a run too short for its dashboard. */
const KNOWN =
  /test run was aborted because k6 received a '\w+' signal|run was short, report generation was skipped/;

/** A result as far as one log can tell: see conclude.ts for the rest. */
export type ResultPart = Omit<LoadResult, 'formatVersion' | 'verdict' | 'total'>;

/** What a log does not tell. */
type ProcessFacts = Partial<
  ProcessUsage & Pick<LoadResult['run'], 'k6Version' | 'k6ExitCode' | 'interrupted'>
>;

/** Which logs are recorded. */
interface Recorded {
  readonly plan: LoadPlan;
  /** Processes whose logs it takes in; those of the plan may be more. */
  readonly processes: number;
  readonly redact: Redact;
  /** Called with each line that a person should see. */
  readonly note?: ((line: string) => void) | undefined;
}

/** Takes in what k6 processes of one load log. Keys are redacted before anything is stored. */
export class Recording {
  readonly #of: Recorded;
  readonly samples: Samples;
  readonly #thresholds: ThresholdOutcome[] = [];
  readonly #measurements: LoadResult['measurements'] = [];
  readonly #protocols: string[] = [];
  readonly #violations = new Map<string, LoadResult['violations'][number]>();
  readonly #lags: number[] = [];
  readonly #addedIds: string[] = [];
  readonly errorLines: string[] = [];
  #dropped = 0;
  #noted = 0;

  constructor(recorded: Recorded) {
    this.#of = recorded;
    this.samples = new Samples(recorded.plan);
  }

  /** Takes in a line of the log. */
  add(line: string): void {
    const { redact } = this.#of;
    const { level, msg, error = '' } = loggedIn(line);
    if (!msg.startsWith(MARK)) return this.#say(level, redact(`${msg} ${error}`.trim()).slice(0, MOST_LINE));
    const message = messageIn(redact(msg));
    if (message === undefined) this.problem('k6 wrote a message that cannot be read');
    else this.take(message);
  }

  /** Takes in what was told. */
  take({ samples, violation, threshold, measurement, protocol, end }: Message): void {
    if (samples !== undefined) {
      for (const lag of samples.lags) this.#lags.push(lag);
      for (const id of samples.added) this.#addedIds.push(id);
      if (!this.samples.add(samples.since, samples.series))
        this.problem('k6 wrote samples that cannot be read');
    }
    if (violation !== undefined) {
      const { requirement } = violation;
      const reported = (this.#violations.get(requirement)?.reported ?? 0) + 1;
      this.#violations.set(requirement, { requirement, reported, example: violation });
    }
    if (threshold !== undefined) this.#thresholds.push(threshold);
    if (measurement !== undefined) this.#measurements.push(measurement);
    if (protocol !== undefined) this.#protocols.push(protocol);
    this.#dropped += end?.dropped ?? 0;
  }

  #say(level: string, text: string): void {
    if (text === '' || KNOWN.test(text)) return;
    if (['error', 'fatal', 'panic'].includes(level)) this.problem(text);
    if (level === 'info' || level === 'debug') return;
    this.#noted += 1;
    if (this.#noted <= MOST_NOTED_LINES) this.#of.note?.(`k6 ${level}: ${text}`);
    else if (this.#noted === MOST_NOTED_LINES + 1)
      this.#of.note?.('k6 has more to say; further lines are left out');
  }

  /** Notes that something went wrong on this side of the wire. */
  problem(line: string): void {
    if (this.errorLines.length < MOST_ERROR_LINES && !this.errorLines.includes(line))
      this.errorLines.push(line);
  }

  /** The part of the result. */
  part({ cpuMeanPart = null, memoryPeakBytes = null, ...told }: ProcessFacts = {}): ResultPart {
    const { plan, processes } = this.#of;
    const { speed } = plan.clock;
    const { first, last, paid } = this.samples;
    const facts = scenarioNamed(plan.scenario);
    return {
      run: {
        id: plan.runId,
        ...{ scenario: plan.scenario, answers: facts.answers, target: plan.target },
        ...{ mix: plan.mix, slo: plan.slo, seconds: plan.seconds },
        startedAt: new Date(last === 0 ? Date.now() : first).toISOString(),
        durationSeconds: Math.max(0, last - first) / 1000,
        ...{ harnessVersion: HARNESS_VERSION, k6Version: PINNED_K6, k6ExitCode: null },
        shards: processes,
        clockSpeed: speed,
        animalsAdded: this.#addedIds.length,
        way: { ...plan.way, ...versions(this.#protocols) },
        ...told,
      },
      notes: [
        ...plan.notes,
        ...(this.#dropped === 0
          ? []
          : [`arrivals not sent, as every virtual user was busy: ${this.#dropped}`]),
        ...(speed === 1 ? [] : [`the target's clock runs ${speed} times as fast`]),
      ],
      series: this.samples.series(),
      thresholds: [
        ...this.#thresholds,
        ...(told.interrupted === undefined ? this.#silence() : []),
        ...(facts.uniqueIds === true ? [judgeIds(this.#addedIds)] : []),
      ],
      generator: this.#health({ cpuMeanPart, memoryPeakBytes }),
      violations: [...this.#violations.values()],
      measurements: this.#measurements,
      // Those that pay for these processes, with what was sent.
      keys: plan.keys
        .filter(({ name, requests }) => requests > 0 && (processes === plan.turns.length || paid.has(name)))
        .map((key) => ({ ...key, ...(paid.get(key.name) ?? { sent: 0, refused: 0 }) })),
    };
  }

  /**
   * How the machine that made the load fared, and whether it was the limit. Arrivals are also dropped when every virtual
   * user waits for a slow target. Little's law (busy users = rate × latency) tells the two apart.
   */
  #health(usage: ProcessUsage): LoadResult['generator'] {
    const { plan, processes } = this.#of;
    const share = processes / plan.turns.length;
    const users = Math.ceil(plan.vus * share);
    const { requests, mean } = this.samples.since(0);
    const rate = peakOf({ ...plan, facts: scenarioNamed(plan.scenario) }) * share;
    const [dropped, cpu] = [this.#dropped, usage.cpuMeanPart ?? 0];
    const hasLag = this.#lags.length > 0 && dropped === 0;
    // How late arrivals began at the 95th percentile, compared with the most punctual one.
    const lag = hasLag ? quantile(this.#lags, 0.95) - quantile(this.#lags, 0) : null;
    const arrivals = dropped + requests;
    const wasFast = (rate * mean) / 1000 < users / 2;
    const limits = [
      lag !== null && lag > LAG_ALLOWED_MS && `arrivals began up to ${round(lag)} ms late (95th percentile)`,
      cpu > CPU_ALLOWED && `k6 took ${Math.round(cpu * 100)} % of the CPU`,
      dropped > arrivals * DROPS_ALLOWED &&
        wasFast &&
        `${dropped} of ${arrivals} arrivals were not sent though the target answered fast enough for ${users} users`,
    ];
    return {
      droppedIterations: dropped,
      scheduleLagP95Ms: lag,
      ...usage,
      errorLines: this.errorLines,
      limit: limits.filter((limit) => limit !== false).join('; ') || null,
    };
  }

  /** A broken threshold if a client whose behaviour is measured reported nothing. */
  #silence(): ThresholdOutcome[] {
    const { scenario, clients, keys } = this.#of.plan;
    const heard = new Set([...this.#thresholds, ...this.#measurements].map(({ key }) => key));
    const silent = clients.flatMap((client) => keys[client]?.name ?? []).filter((name) => !heard.has(name));
    if (silent.length === 0 || scenarioNamed(scenario).personas?.reports !== true) return [];
    const actual = `none from ${silent.join(', ')}`;
    return [
      { kind: 'client', name: 'every client finishes', held: false, expected: 'a report from each', actual },
    ];
  }
}

/** The versions of HTTP that were spoken, each once. */
export const versions = (spoken: readonly string[]) => {
  const distinct = new Set(spoken.map((name) => name.replace(/^HTTP\/|\.0$/g, '')));
  return distinct.size === 0 ? {} : { httpVersion: [...distinct].sort().join(', ') };
};

/** Whether every animal that was added has an id of its own. */
function judgeIds(ids: readonly string[]): ThresholdOutcome {
  const distinct = new Set(ids).size;
  const twice = new Set(ids.filter((id, index) => ids.indexOf(id) !== index));
  const given = twice.size === 0 ? '' : `; given twice: ${[...twice].slice(0, 3).join(', ')}`;
  return {
    kind: 'client',
    name: 'every animal that was added has its own id',
    held: twice.size === 0 && ids.length > 0,
    expected: `${ids.length} ids`,
    actual: `${distinct} ids${given}`,
  };
}

/** What k6 prints beside its logger is a few lines. */
const MOST_PLAIN = 10_000;

/**
 * Makes a part of a result from a runner's log: standard output and error together, as `kubectl logs` gives them.
 *
 * @throws UsageError for a log without the line in which k6 tells at its end what was run
 */
export async function readRunnerLog(file: string): Promise<ResultPart> {
  const lines = () => createInterface({ input: createReadStream(file) });
  let plan: LoadPlan | undefined;
  let plain = 0;
  try {
    for await (const line of lines()) {
      const { level, msg } = loggedIn(line);
      plain += Number(level === 'plain');
      if (plain > MOST_PLAIN) throw new Error('it is no log of a k6 runner');
      if (msg.startsWith(`${MARK}{"end"`)) plan = messageIn(msg)?.end?.plan;
    }
    if (plan === undefined)
      throw new Error("k6's last line is missing, or its load was made by another petstore-harness");
    const recording = new Recording({ plan, processes: 1, redact: redactorOf([]) });
    for await (const line of lines()) recording.add(line);
    return recording.part();
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}
