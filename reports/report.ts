/**
 * The report of one conformance run, as in report.json: its type and its JSON Schema, from one definition, and its reader.
 * `npm run schemas` writes report.schema.json, which other tools read.
 */
import { type Static, type TSchema, Type } from '@sinclair/typebox';
import { ReasonShape } from '../checks/run/reason.ts';
import { resultReader } from '../checks/run/stored-result.ts';
import { ExchangeShape, WayShape } from '../checks/wire/exchange-shape.ts';
import { exact, type Frozen, orNull, words } from '../spec/json-schema.ts';
import { ADDED_ANIMALS } from '../spec/operations.ts';
import { PERMISSIONS } from '../spec/permissions.ts';

/**
 * Within a version no field is removed, retyped or given another meaning, and a new field is optional. An older report
 * thus stays valid, and a reader ignores the fields of a newer one that it does not know. Any other change raises the
 * version.
 */
export const REPORT_FORMAT_VERSION = 3;

const text = (description?: string) => Type.String({ minLength: 1, description });
const anyText = (description?: string) => Type.String({ description });
const flag = (description: string) => Type.Boolean({ description });
const number = (description?: string) => Type.Number({ description });
const count = (description?: string) => Type.Integer({ minimum: 0, description });
const list = <S extends TSchema>(items: S, description?: string) => Type.Array(items, { description });
const maybe = Type.Optional;

const Id = Type.String({ pattern: '^[a-z0-9]+(-[a-z0-9]+)*$' });
const Section = Type.String({
  pattern: '^([1-9][0-9]*(\\.[1-9][0-9]*)*|own)$',
  description: 'Of the document; own: a rule of the profile.',
});
const Evidence = list(text(), 'Ids into exchanges, the decisive one first.');

const RunFacts = exact({
  id: text('Random; the names of the animals that the run added begin with harness-<id>.'),
  startedAt: Type.String({ format: 'date-time', description: 'ISO 8601, UTC.' }),
  durationSeconds: Type.Number({
    minimum: 0,
    description: 'By the harness’s own clock, which runs at clockSpeed times real time.',
  }),
  harnessVersion: text(),
  target: text('Base address, without credentials.'),
  profile: maybe(text('The target profile’s file, as it was named.')),
  way: maybe(WayShape),
  permissions: Type.Array(words(PERMISSIONS), { uniqueItems: true }),
  keys: list(
    exact({ name: text(), plan: text(), roles: list(text()) }),
    'Names of the keys used; never their values.',
  ),
  clockSpeed: Type.Number({ exclusiveMinimum: 0, description: '1 is real time.' }),
  sharedClock: maybe(
    flag('The run shared a simulated clock with its target, which left out the time in which both waited.'),
  ),
  interrupted: maybe(text('Why the run ended early: the signal or the reason.')),
  resume: maybe(text('The command that continues the run, where its target is still there.')),
  only: maybe(list(text(), 'Requirement ids, if the run was restricted to some.')),
  traffic: maybe(flag('The answers to other clients were judged, and nothing was sent.')),
  animalsAdded: count(`How many; ${ADDED_ANIMALS}.`),
  targetClockSkewMs: maybe(number('The target’s clock minus the harness’s, by the Date header.')),
  command: text('Repeats the run; of traffic, checks the target that it went to.'),
});

const RequirementRow = exact({
  id: Id,
  section: Section,
  level: words(['MUST', 'MAY']),
  title: text(),
  statement: text('What is asked of a target, in our words.'),
  clause: maybe(text('The document’s own words.')),
  reading: maybe(text('Why what is asked is our reading of the clause; absent where it is stated.')),
  plan: maybe(text('The plan that it is about, where it is about one.')),
  permit: maybe(words(PERMISSIONS, 'The permission without which it cannot be verified.')),
  verdict: words(['pass', 'fail', 'inconclusive', 'skipped', 'not-applicable']),
  reason: anyText('Why this verdict, in a sentence.'),
  why: list(ReasonShape, 'Why this verdict, as data; the first one first.'),
  expected: maybe(anyText('For a failure, what the document asks of the decisive exchange.')),
  actual: maybe(anyText('For a failure, what came back.')),
  at: maybe(
    list(
      text(),
      'For a failure, what is wrong in the decisive answer: "status", "header:NAME", or "body" with a JSON Pointer.',
    ),
  ),
  evidence: Evidence,
  curl: maybe(anyText('Repeats the decisive exchange, the key as a shell variable.')),
  consequenceOf: maybe(Id),
  baselined: maybe(flag('A known failure, or one that a known failure explains: it does not gate.')),
  required: maybe(flag('Was skipped although --require asks for it: it gates whatever its level.')),
});

const GapRow = exact({
  id: Id,
  section: Section,
  question: text(),
  observed: orNull(Type.String(), 'This target’s answer; null where the run saw none.'),
  pinned: orNull(Type.String(), 'The answer that the profile promises.'),
  verdict: words(['observed', 'kept', 'drifted', 'not-observed', 'unobservable']),
  detail: anyText('How the answer was seen, or why it was not.'),
  evidence: Evidence,
});

const Point = exact({
  at: number('Seconds since the run began, when the response was complete.'),
  key: orNull(Type.String(), 'Name of the key; null where no valid one was sent.'),
  operation: anyText(),
  status: Type.Integer({
    minimum: 0,
    maximum: 999,
    description: 'HTTP status, 0 where no response came.',
  }),
  limit: maybe(number()),
  remaining: maybe(number()),
  reset: maybe(number('X-RateLimit-Reset, in seconds since the run began.')),
  banned: maybe(flag('A refusal: banned rather than over the limit.')),
  times: maybe(
    Type.Integer({
      minimum: 2,
      description:
        'How many exchanges it stands for, if several: the time is that of the first, remaining the lowest.',
    }),
  ),
});

/** The JSON Schema of report.json. */
export const REPORT_SCHEMA = Type.Object(
  {
    formatVersion: Type.Literal(REPORT_FORMAT_VERSION),
    run: RunFacts,
    verdict: words(
      ['conformant', 'nothing-broken', 'not-conformant', 'inconclusive'],
      'conformant: everything was verified. nothing-broken: all that was asked for was, and something was left out or is a known failure.',
    ),
    complete: flag('False where something was skipped.'),
    problems: list(text(), 'What made the verdict beside the rows, such as a stale baseline entry.'),
    requirements: Type.Array(RequirementRow),
    gaps: Type.Array(GapRow),
    requests: exact({
      total: count(),
      byKey: Type.Record(Type.String(), count(), {
        description: 'By key name; requests without a valid key are under (none).',
      }),
    }),
    timeline: list(
      Point,
      'Every exchange as the rate limit saw it, in the order of receipt; in a long run those alike and close in time are one point.',
    ),
    exchanges: list(
      ExchangeShape,
      'The exchanges that evidence points to, in full. The run’s journal has every one, the uniform ones of a burst in short.',
    ),
  },
  {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: `urn:petstore-harness:report:${REPORT_FORMAT_VERSION}`,
    title: 'Report of one conformance run',
    description:
      'report.json of petstore-harness, exactly as this version writes it. Within a formatVersion no field is removed, retyped or given another meaning, and what is added is optional: pass over fields that you do not know.',
    additionalProperties: false,
  },
);

export type Report = Frozen<Static<typeof REPORT_SCHEMA>>;
export type RequirementResult = Report['requirements'][number];
export type GapResult = Report['gaps'][number];
export type RunFacts = Report['run'];
export type TimelinePoint = Report['timeline'][number];
export type RunVerdict = Report['verdict'];

/** Name of the report in a folder of results. */
export const REPORT_FILE = 'report.json';

/**
 * Reads the report of an earlier run: a report.json, or a folder that holds one.
 *
 * @throws UsageError with one line that says why it cannot be read
 */
export const readReport = resultReader<Report>({
  name: REPORT_FILE,
  what: 'a report of petstore-harness',
  schema: REPORT_SCHEMA,
  version: REPORT_FORMAT_VERSION,
});
