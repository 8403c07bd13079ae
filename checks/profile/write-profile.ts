/** Writes profiles: the one that a run used, and one that pins what a run observed. */
import { Document, isMap, parseDocument, YAMLMap } from 'yaml';
import { SCHEMA_ADDRESS } from './profile-schema.ts';
import type { TargetProfile } from './target-profile.ts';

/** What a run saw of a gap, to be promised from now on. */
export interface ObservedAnswer {
  /** The gap's id in spec/requirements.yaml. */
  readonly id: string;
  readonly question: string;
  readonly answer: string;
}

const LINE_WIDTH = 110;

/** What a profile does not say is left out. */
const unlessEmpty = <T extends object>(fields: T) => (Object.keys(fields).length === 0 ? undefined : fields);

function documentOf({ target, keys, plans, permit, load, gaps, clock, samples }: TargetProfile): Document {
  const fields = {
    target,
    keys: keys.map(({ unusedToday, ...key }) => (unusedToday ? { ...key, unusedToday } : key)),
    plans: unlessEmpty(plans),
    permit,
    load: load.allowed ? load : undefined,
    gaps: unlessEmpty(gaps),
    clock: clock.speed === 1 ? undefined : clock,
    samples: unlessEmpty(samples),
  };
  const document = new Document(fields, { aliasDuplicateObjects: false });
  document.commentBefore = ` yaml-language-server: $schema=${SCHEMA_ADDRESS}`;
  return document;
}

/**
 * The profile as YAML, with the line by which editors complete and check it. Like every profile it names the keys'
 * variables and holds no key.
 */
export function profileYaml(profile: TargetProfile): string {
  return documentOf(profile).toString({ lineWidth: LINE_WIDTH });
}

/**
 * A profile that pins every observed answer, new ones in place of those that the target no longer gives.
 *
 * @param written the text of the profile that the run used, whose comments and order are kept; undefined where it had
 *   no file
 */
export function pinnedProfileYaml(
  written: string | undefined,
  profile: TargetProfile,
  observed: readonly ObservedAnswer[],
): string {
  const document =
    written === undefined ? documentOf(profile) : parseDocument(written, { intAsBigInt: true });
  const present = document.get('gaps');
  const gaps = isMap(present) ? present : new YAMLMap();
  document.set('gaps', gaps);
  for (const { id, question, answer } of observed) {
    if (gaps.has(id)) {
      gaps.set(id, answer);
      continue;
    }
    const key = document.createNode(id);
    key.commentBefore = ` ${question}`;
    gaps.add(document.createPair(key, answer));
  }
  return document.toString({ lineWidth: LINE_WIDTH });
}
