/**
 * petstore-harness as a library: `check` a target, `serve` the Pet Store for the tests of a client, and `conformance`
 * for the test runner that is there already. What is exported here follows semantic versioning.
 */
import { AssertionError } from 'node:assert';
import { EventEmitter } from 'node:events';
import { type TSchema, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { parseProfile } from '../checks/profile/parse-profile.ts';
import { variableOf } from '../checks/profile/server-profile.ts';
import type { KeyRole, PlanLimits, PlanName, TargetProfile } from '../checks/profile/target-profile.ts';
import { UsageError } from '../checks/profile/usage-error.ts';
import { isDecidedEarly } from '../checks/run/play.ts';
import { allChecks } from '../checks/sections/all-checks.ts';
import { startReferenceServer } from '../reference-server/reference-server.ts';
import { buildReport, driftLine, failureLine } from '../reports/build-report.ts';
import type { Report, RequirementResult } from '../reports/report.ts';
import { requirement } from '../spec/contract.ts';
import { count, text } from '../spec/json-schema.ts';
import type { Permission } from '../spec/permissions.ts';
import { permissionsNamed, selectedIds } from './check/check-options.ts';
import { limitsOf } from './check/check-plan.ts';
import { judgedCheck } from './check/check-report.ts';
import { checkSubject } from './check/check-subject.ts';
import { declared, type Rule } from './rules.ts';
import { NothingToJudge } from './shared/exit-codes.ts';

export type { KeyRole, Permission, PlanLimits, PlanName, Report, RequirementResult };
export { NothingToJudge, UsageError };

/** An API key of the target, with its value. */
export interface TargetKey {
  readonly value: string;
  readonly plan: PlanName;
  /** How reports call the key; default the plan and a number, `free-1`. */
  readonly name?: string;
  /** Default `functional` and `exhaust`. */
  readonly roles?: readonly KeyRole[];
}

/** What is checked, with which keys, and what the run may do. */
export interface CheckOptions {
  /**
   * Base address with the version segment. Without target, profile and keys an embedded reference server is checked,
   * with every permission unless `permit` says otherwise.
   */
  readonly target?: string;
  /** Without keys and profile they come from PETSTORE_FREE_KEY, its like for the other plans, and PETSTORE_BAN_KEY. */
  readonly keys?: readonly TargetKey[];
  /** File of a target profile, in place of `keys`, `plans` and `gaps`; it takes the keys from the environment. */
  readonly profile?: string;
  /** What the run may do beyond reading; default what the profile permits, else nothing. */
  readonly permit?: readonly Permission[];
  /** Requirement ids, or sections such as `4.1`; default everything. */
  readonly only?: readonly string[];
  /** What the document leaves custom; needed if a key has that plan. */
  readonly plans?: { readonly enterprise?: PlanLimits };
  /** Answers to open questions that the target promises, by the gap's id. */
  readonly gaps?: Readonly<Record<string, string>>;
  /** Rules of one's own, beside those of a profile's file. */
  readonly rules?: readonly Rule[];
  /** Sent with every request, for what stands in front of the target: values by name, in no output. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Files relative to the working directory, as a profile's `tls` has them. */
  readonly tls?: Partial<TargetProfile['tls']>;
  /** Permissions are intended, although the address looks like one that customers use. */
  readonly production?: boolean;
  /** Ends the run; its reason is thrown. */
  readonly signal?: AbortSignal;
  /** Called with each requirement as soon as it is decided. The end of the run may still change it. */
  readonly onDecided?: (row: RequirementResult) => void;
}

/**
 * Checks a target as `petstore-harness check` does, without its output, its folder and its exit code.
 *
 * @example
 * ```ts
 * const report = await check({
 *   target: 'https://staging.example.com/v1',
 *   keys: [{ plan: 'free', value: key }],
 *   permit: ['writes'],
 * });
 * if (report.verdict !== 'conformant') throw new Error(report.requirements.find((row) => row.verdict === 'fail')?.reason);
 * ```
 * @throws UsageError for options that contradict each other or name what is not there
 * @throws NothingToJudge if the target cannot be judged at all
 */
export async function check(options: CheckOptions = {}): Promise<Report> {
  const { target, profile, permit, only, production, keys, signal, onDecided } = options;
  signal?.throwIfAborted();
  refuseOtherTypes(options, OPTIONS);
  const asked = {
    ...{ target, profile, only },
    permit: permit && permissionsNamed(permit),
    production: production === true ? production : undefined,
  };
  if (keys !== undefined && profile !== undefined) throw new UsageError('give keys or a profile, not both');
  if (keys === undefined && (options.plans ?? options.gaps ?? options.headers ?? options.tls) !== undefined)
    throw new UsageError('plans, gaps, headers and tls go with keys; a profile has its own');
  const own = declared(options.rules ?? []);
  const named = await checkSubject(asked, { given: keys && givenProfile(keys, options) });
  const subject = { ...named, rules: [...(named.rules ?? []), ...own] };
  try {
    const { longest, mostRequests } = await limitsOf(subject);
    const timeLimit = { longest, taken: 0 };
    const { report, checked } = await judgedCheck(
      { ...subject, signal, timeLimit, mostRequests },
      asked,
      [],
      (row) => onDecided?.(row),
    );
    signal?.throwIfAborted();
    if (checked.nothingToJudge !== undefined) throw new NothingToJudge(checked.nothingToJudge);
    return report;
  } finally {
    await subject.close?.();
  }
}

/** What is refused where it is of another type: not every caller has its types checked. */
const OPTIONS = Type.Partial(
  Type.Object({
    ...{ target: text, profile: text, permit: Type.Array(text), only: Type.Array(text) },
    keys: Type.Array(Type.Object({ value: text })),
    headers: Type.Record(text, text),
  }),
);
// Node takes a text for the path of a local socket.
const SERVE_OPTIONS = Type.Partial(Type.Object({ port: count, animals: count }));

/** @throws UsageError that tells no value */
function refuseOtherTypes(options: unknown, schema: TSchema): void {
  const wrong = Value.Errors(schema, options).First();
  if (wrong !== undefined) throw new UsageError(`${wrong.path}: ${wrong.message.toLowerCase()}`);
}

function givenProfile(keys: readonly TargetKey[], options: CheckOptions) {
  const { plans, gaps, headers = {}, tls } = options;
  const granted = Object.entries(headers).map(([name, value], index) => ({
    ...{ name, value, env: `PETSTORE_HEADER_${index}` },
  }));
  const named = keys.map((key, index) => {
    const name = key.name ?? `${key.plan}-${index + 1}`;
    return { ...key, name, env: variableOf(name), roles: key.roles ?? ['functional', 'exhaust'] };
  });
  // JSON is YAML.
  const written = JSON.stringify({
    keys: named.map(({ value, ...key }) => key),
    headers: granted.map(({ name, env }) => ({ name, env })),
    ...{ plans, gaps, tls },
  });
  return {
    profile: parseProfile(written, 'keys'),
    values: Object.fromEntries([...named, ...granted].map(({ env, value }) => [env, value])),
  };
}

/** How the reference server is started; everything has a default. */
export interface ServeOptions {
  /** Default a free one. */
  readonly port?: number;
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** A conforming way of answering what the document leaves open; `petstore-harness serve --list-variants`. */
  readonly variant?: string;
  /** What it does wrong; `petstore-harness serve --list-faults`. */
  readonly faults?: readonly string[];
  /** How many animals are in the store at the start; default 120. */
  readonly animals?: number;
  /** How many times faster than real time its clock runs; default 1. */
  readonly clockSpeed?: number;
  /** When a key is banned, and for how long; default 10 requests after the first 429, and 60 seconds. */
  readonly ban?: { readonly threshold?: number; readonly seconds?: number };
}

/** A Pet Store that is listening. */
export interface PetStore extends AsyncDisposable {
  /** With the version segment, without a trailing slash: `http://127.0.0.1:4711/v1`. */
  readonly address: string;
  /** New in every server, of every plan; those with `ban` in their name are meant to be banned. */
  readonly keys: readonly { readonly name: string; readonly plan: PlanName; readonly value: string }[];
  /** Lets requests under way finish; so does the end of an `await using`. */
  close(): Promise<void>;
}

/**
 * Starts a Pet Store in this process, for the tests of a client. It conforms unless `faults` names what it does wrong.
 *
 * @example
 * ```ts
 * await using server = await serve({ faults: ['filter-ignored'] });
 * await fetch(`${server.address}/pets`, { headers: { authorization: `Bearer ${server.keys[0]?.value}` } });
 * ```
 */
export async function serve({ faults = [], ...options }: ServeOptions = {}): Promise<PetStore> {
  refuseOtherTypes(options, SERVE_OPTIONS);
  const server = await startReferenceServer({ ...options, fault: faults });
  const close = () => server.close();
  return { address: server.baseUrl, keys: server.keys, close, [Symbol.asyncDispose]: close };
}

/** What a test runner passes to a test, as far as `run` uses it. */
export interface TestContext {
  /** Called with the reason if a requirement was not verified: no permission, no key, or it does not apply. */
  skip?(reason: string): unknown;
  /** Called with what a verified requirement was seen in. */
  pass?(reason: string): unknown;
}

/** A requirement as a test. */
export interface ConformanceTest {
  /** The requirement's id; `run` is the test of the run as a whole. */
  readonly id: string;
  readonly title: string;
  /**
   * Ends as soon as the requirement is decided. It throws a `Nonconformity` if the requirement is broken, or of level MUST
   * and not verified. If it was skipped or does not apply, it calls the context's `skip`.
   */
  readonly run: (context?: TestContext) => Promise<void>;
}

/** What the document asks, and what came instead. */
export class Nonconformity extends AssertionError {
  override readonly name = 'Nonconformity';
  /** A command that repeats the decisive exchange, the key as a shell variable. */
  readonly curl: string | undefined;

  constructor(message: string, { expected, actual, curl }: Partial<RequirementResult> = {}) {
    super({ message, expected, actual, operator: 'conforms' });
    this.curl = curl;
    // What is wrong is in no line of code here.
    this.stack = `${this.name}: ${message}`;
  }
}

/**
 * The requirements as tests for node:test, tap, vitest or jest. The first test that runs starts the check for all of them.
 * Tests that spend no limit come first. The last one, `run`, judges what only the end of the run shows.
 *
 * @example
 * ```ts
 * for (const { title, run } of conformance({ profile: 'staging.yaml' })) test(title, run);
 * ```
 * @throws UsageError if `only` has an unknown name
 */
export function conformance(options: CheckOptions = {}): readonly ConformanceTest[] {
  refuseOtherTypes(options, OPTIONS);
  const every = [...allChecks, ...declared(options.rules ?? [])];
  const ids = options.only && selectedIds(options.only);
  const asked = every.filter(({ id }) => ids === undefined || ids.includes(id));
  const ordered = [...asked.filter(isDecidedEarly), ...asked.filter((row) => !isDecidedEarly(row))];
  const decided = new Map<string, RequirementResult>();
  const news = new EventEmitter();
  let running: Promise<Report> | undefined;
  const theRun = () => {
    running ??= check({
      ...options,
      onDecided: (row) => {
        decided.set(row.id, row);
        news.emit(row.id);
        options.onDecided?.(row);
      },
    });
    return running;
  };
  const rowOf = async (id: string): Promise<RequirementResult> => {
    if (!decided.has(id)) await Promise.race([new Promise((resolve) => news.once(id, resolve)), theRun()]);
    const row = decided.get(id);
    if (row === undefined) throw new Nonconformity(`${id} was not decided`);
    return row;
  };
  return [
    ...ordered.map(({ id }): ConformanceTest => {
      const { section, title } = requirement(id);
      // A rest parameter, as jest would take an ordinary one for a callback.
      return {
        id,
        title: `${id} (${section}) ${title}`,
        run: async (...[context]) => tell(await rowOf(id), context),
      };
    }),
    {
      id: 'run',
      title: 'the run as a whole',
      run: async (...[context]) => {
        const headline = tellOfWhole(await theRun(), decided);
        context?.pass?.(headline);
      },
    },
  ];
}

function tell(row: RequirementResult, context: TestContext | undefined): void {
  const { verdict, level, reason } = row;
  if (verdict === 'fail') throw new Nonconformity(failureLine(row), row);
  if (verdict === 'inconclusive' && level === 'MUST') throw new Nonconformity(`not verified: ${reason}`);
  if (verdict === 'pass') context?.pass?.(reason);
  else context?.skip?.(reason);
}

/** What no other test shows: an early end, evidence that became doubtful, a pinned answer that drifted. */
function tellOfWhole(report: Report, decided: ReadonlyMap<string, RequirementResult>): string {
  const { drifted, headline, problems: found } = buildReport(report);
  const problems = [
    ...found,
    ...drifted.map((gap) => `${gap.id} ${driftLine(gap)}`),
    ...report.requirements
      .filter(({ id, verdict }) => verdict !== 'pass' && decided.get(id)?.verdict === 'pass')
      .map(({ id, reason }) => `${id}: ${reason}`),
  ];
  if (problems.length > 0) throw new Nonconformity(problems.join('\n'));
  return headline;
}
