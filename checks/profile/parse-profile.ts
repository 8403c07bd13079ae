import { PERMISSIONS } from '../run/verdict.ts';
import { isAnswerTo, type PinnableGap } from '../wire/answer-forms.ts';
import { readBaseAddress } from '../wire/base-address.ts';
import { readKeys, refuseSecret } from './profile-keys.ts';
import { PLAN_NAMES, type PlanLimits, type TargetProfile } from './target-profile.ts';
import {
  type Field,
  type FileProblem,
  quoted,
  suggestion,
  YamlFields,
  type YamlNode,
} from './yaml-fields.ts';

export type LoadedProfile =
  | { readonly ok: true; readonly profile: TargetProfile }
  | {
      readonly ok: false;
      /** The file's name, as it was given. */
      readonly source: string;
      /** All that is wrong, in the order of the file. */
      readonly problems: readonly FileProblem[];
    };

const MOST_REQUESTS = 1_000_000_000n;
const MOST_CLOCK_SPEED = 100_000;
const MAX_INT64 = 2n ** 63n - 1n;

/**
 * Validates a profile's text. Everything that is wrong is reported at once; no value that could be a key is repeated.
 *
 * @param source how messages name the text
 */
export function parseProfile(text: string, source: string, gaps: readonly PinnableGap[]): LoadedProfile {
  const yaml = new YamlFields();
  const root = yaml.read(text);
  if (yaml.problems.length === 0 && (root === undefined || root === null)) {
    yaml.report(
      0,
      'the profile is empty',
      'it needs at least one key: keys: [{ name: …, plan: free, env: …, roles: [functional] }]',
    );
  }
  const profile = yaml.problems.length === 0 ? profileOf(yaml, root, gaps) : undefined;
  if (profile !== undefined && yaml.problems.length === 0) return { ok: true, profile };
  const problems = [...yaml.problems].sort((a, b) => a.line - b.line || a.column - b.column);
  return { ok: false, source, problems: shortened(problems) };
}

/** More than these a person does not read: the file is another one than was meant. */
const MOST_PROBLEMS = 50;

function shortened(problems: readonly FileProblem[]): readonly FileProblem[] {
  const next = problems[MOST_PROBLEMS];
  if (next === undefined) return problems;
  const message = `and ${problems.length - MOST_PROBLEMS} further problems from here on`;
  return [...problems.slice(0, MOST_PROBLEMS), { ...next, message, remedy: 'is it the right file?' }];
}

const PROFILE_FIELDS = ['target', 'keys', 'plans', 'permit', 'load', 'gaps', 'clock', 'samples'];

function profileOf(
  yaml: YamlFields,
  root: YamlNode,
  gaps: readonly PinnableGap[],
): TargetProfile | undefined {
  const fields = yaml.fields(root, 'the profile', PROFILE_FIELDS, refuseSecret(yaml));
  if (fields === undefined) return undefined;
  const targetField = fields.get('target');
  const keysField = fields.get('keys');
  const plansField = fields.get('plans');
  const permitField = fields.get('permit');
  const plans = plansField === undefined ? {} : readPlans(yaml, plansField);
  if (keysField === undefined) {
    yaml.report(
      root,
      'the profile has no keys',
      'add keys: [{ name: …, plan: free, env: …, roles: [functional] }]',
    );
  }
  return {
    target: targetField === undefined ? undefined : readTarget(yaml, targetField),
    keys: keysField === undefined ? [] : readKeys(yaml, keysField, plans),
    plans,
    permit: (permitField && yaml.choices(permitField, 'permit', PERMISSIONS)) ?? [],
    load: readLoad(yaml, fields.get('load')),
    gaps: readGaps(yaml, fields.get('gaps'), gaps),
    clock: readClock(yaml, fields.get('clock')),
    samples: readSamples(yaml, fields.get('samples')),
  };
}

function readTarget(yaml: YamlFields, { value }: Field): string | undefined {
  const text = yaml.text(value, 'target');
  if (text === undefined) return undefined;
  const read = readBaseAddress(text);
  if (read.ok) return read.address;
  yaml.report(value, read.message, read.remedy);
  return undefined;
}

function readPlans(yaml: YamlFields, { value }: Field): { enterprise?: PlanLimits } {
  const fixed = (name: string, { offset }: Field) => {
    if (!PLAN_NAMES.some((plan) => plan === name)) return false;
    yaml.report(
      offset,
      `the document fixes the limits of plan ${name}`,
      'remove it; only enterprise is custom',
    );
    return true;
  };
  const enterprise = yaml.fields(value, 'plans', ['enterprise'], fixed)?.get('enterprise');
  if (enterprise === undefined) return {};
  const limits = yaml.fields(enterprise.value, 'plans.enterprise', ['perMinute', 'perDay']);
  if (limits === undefined) return {};
  const read = (name: string) => {
    const field = limits.get(name);
    if (field === undefined) {
      yaml.report(
        enterprise.offset,
        `plans.enterprise has no ${name}`,
        `add ${name}: the number of requests`,
      );
    }
    return field && yaml.integer(field.value, `plans.enterprise.${name}`, 1n, MOST_REQUESTS);
  };
  const perMinute = read('perMinute');
  const perDay = read('perDay');
  if (perMinute === undefined || perDay === undefined) return {};
  return { enterprise: { perMinute: Number(perMinute), perDay: Number(perDay) } };
}

function readLoad(yaml: YamlFields, field: Field | undefined): { allowed: boolean } {
  if (field === undefined) return { allowed: false };
  const allowed = yaml.fields(field.value, 'load', ['allowed'])?.get('allowed');
  return { allowed: allowed !== undefined && yaml.flag(allowed.value, 'load.allowed') === true };
}

function readGaps(
  yaml: YamlFields,
  field: Field | undefined,
  gaps: readonly PinnableGap[],
): Record<string, string> {
  const pinned: Record<string, string> = Object.create(null);
  if (field === undefined) return pinned;
  const observable = gaps.filter(({ unobservable }) => unobservable === undefined);
  const refuseUnobservable = (name: string, { offset }: Field) => {
    const reason = gaps.find(({ id }) => id === name)?.unobservable;
    if (reason === undefined) return false;
    yaml.report(offset, `the answer to ${name} cannot be pinned: no run can see it`, `remove it (${reason})`);
    return true;
  };
  const fields = yaml.fields(
    field.value,
    'gaps',
    observable.map(({ id }) => id),
    refuseUnobservable,
  );
  for (const gap of observable) {
    const answerField = fields?.get(gap.id);
    const answer = answerField && readAnswer(yaml, answerField, gap);
    if (answer !== undefined) pinned[gap.id] = answer;
  }
  return pinned;
}

/** An answer as a run would report it; a number of seconds, for example, needs no quotes. */
function readAnswer(yaml: YamlFields, { value }: Field, gap: PinnableGap): string | undefined {
  const { id, answers, forms } = gap;
  const written = yaml.scalarText(value);
  if (written === undefined || written.trim() === '') {
    yaml.report(value, `the answer to ${id} must be a text`, 'write it as a report names it');
  } else if (isAnswerTo(gap, written)) return written;
  else {
    const known = [...answers, ...forms];
    yaml.report(
      value,
      `the answer to ${id} is ${quoted(written)}, which is none of ${known.join(', ')}`,
      suggestion(written, known),
    );
  }
  return undefined;
}

function readClock(yaml: YamlFields, field: Field | undefined): { speed: number } {
  const speed = field && yaml.fields(field.value, 'clock', ['speed'])?.get('speed');
  return { speed: (speed && yaml.number(speed.value, 'clock.speed', 1, MOST_CLOCK_SPEED)) ?? 1 };
}

function readSamples(yaml: YamlFields, field: Field | undefined): { categoryId?: bigint } {
  const sample = field && yaml.fields(field.value, 'samples', ['categoryId'])?.get('categoryId');
  const categoryId = sample && yaml.integer(sample.value, 'samples.categoryId', -MAX_INT64 - 1n, MAX_INT64);
  return categoryId === undefined ? {} : { categoryId };
}
