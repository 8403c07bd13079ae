/** Writes profiles: the one that a run used, and one that pins what a run observed. */
import { dirname, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Document, isMap, parseDocument, YAMLMap } from 'yaml';
import { currentId } from '../../spec/contract.ts';
import { packageRoot } from '../../spec/package-root.ts';
import { PROFILE_DEFAULTS, type TargetProfile } from './target-profile.ts';

const LINE_WIDTH = 110;

const defaults = new Map<string, unknown>(Object.entries(PROFILE_DEFAULTS));

function documentOf(profile: TargetProfile): Document {
  const { target, keys, permit, ...others } = profile;
  // What a profile does not say is left out.
  const said = Object.entries(others).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(defaults.get(name)),
  );
  const fields = {
    target,
    keys: keys.map(({ unusedToday, ...key }) => (unusedToday ? { ...key, unusedToday } : key)),
    permit,
    ...Object.fromEntries(said),
  };
  return new Document(fields, { aliasDuplicateObjects: false });
}

/** Where an editor that opens the file finds the schema of this package: beside it, as an address would need a host. */
function schemaFor(file: string): string {
  const schema = fileURLToPath(new URL('checks/profile/profile.schema.json', packageRoot));
  const path = relative(dirname(resolve(file)), schema).replaceAll(sep, '/');
  return path.startsWith('.') ? path : `./${path}`;
}

/**
 * The profile as YAML. Like every profile it names the keys' variables and holds no key.
 *
 * @param file where it is written, for the line by which editors complete and check it; without, there is no such line
 */
export function profileYaml(profile: TargetProfile, file?: string): string {
  const document = documentOf(profile);
  if (file !== undefined) document.commentBefore = ` yaml-language-server: $schema=${schemaFor(file)}`;
  return document.toString({ lineWidth: LINE_WIDTH });
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
  observed: readonly { readonly id: string; readonly question: string; readonly answer: string }[],
): string {
  const document = written === undefined ? documentOf(profile) : parseDocument(written);
  const pins = document.get('gaps');
  const names = isMap(pins) ? pins.items.map(({ key }) => String(key)) : [];
  if (!isMap(pins)) document.set('gaps', new YAMLMap());
  for (const { id, question, answer } of observed) {
    const pinned = names.find((name) => currentId(name) === id);
    if (pinned !== undefined) {
      document.setIn(['gaps', pinned], answer);
      continue;
    }
    const key = document.createNode(id);
    key.commentBefore = ` ${question}`;
    document.addIn(['gaps'], document.createPair(key, answer));
  }
  return document.toString({ lineWidth: LINE_WIDTH });
}
