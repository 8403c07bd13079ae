import { lstatSync, readlinkSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { JOURNAL_FILE } from '../../checks/check-target.ts';
import { looksLikeProduction } from '../../checks/profile/production-address.ts';
import {
  PROFILE_DEFAULTS,
  type ProfileKey,
  type TargetProfile,
} from '../../checks/profile/target-profile.ts';
import type { Clock } from '../../checks/run/clock.ts';
import { type JournalContent, keyPrint, readJournal } from '../../checks/run/journal.ts';
import { PERMISSIONS, type Permission } from '../../spec/permissions.ts';
import { UsageError } from '../shared/exit-codes.ts';
import {
  addressOf,
  environment,
  profileIn,
  unsentValues,
  usualKeys,
  valuesOf,
} from '../shared/profile-file.ts';
import { PROFILE_FILE } from './check-folder.ts';
import type { CheckOptions } from './check-options.ts';
import { selectedIds } from './check-selection.ts';

/** What is to be checked, with which keys and permissions. */
export interface CheckSubject {
  readonly profile: TargetProfile & { readonly target: string };
  readonly values: ReadonlyMap<string, string>;
  readonly permissions: readonly Permission[];
  readonly only: readonly string[] | undefined;
  /** The clock that the run shares with a target in this process. */
  readonly clock?: Clock;
  /** Whether the target is the reference server in this process, or was, in a stored run. */
  readonly embedded: boolean;
  /** An earlier run that is resumed or rejudged. */
  readonly stored: StoredRun | undefined;
  close(): Promise<void>;
}

/** A profile, and its keys by the names of their variables. */
export interface GivenProfile {
  readonly profile: TargetProfile;
  readonly values: Readonly<Record<string, string>>;
}

type Journal = Extract<JournalContent, { ok: true }>;

interface StoredRun {
  readonly directory: string;
  readonly journal: Journal;
  /** Rejudge: send nothing. */
  readonly offline: boolean;
}

/**
 * What the options ask to be checked: a target of the profile or the command line, a stored run, or the embedded
 * reference server, which is started here.
 *
 * @param given the profile, if it is not in a file
 * @throws UsageError for all that is wrong with options, profile, keys or the stored run
 */
export async function checkSubject(options: CheckOptions, given?: GivenProfile): Promise<CheckSubject> {
  const stored = storedRun(options);
  const only =
    stored === undefined || options.only !== undefined
      ? options.only && selectedIds(options.only)
      : stored.journal.header.only;
  if ((options.target ?? options.profile ?? stored ?? given) === undefined) {
    const { startEmbeddedTarget } = await import('./embedded-target.ts');
    const { profile, values, clock, close } = await startEmbeddedTarget();
    const permissions = options.permit ?? PERMISSIONS;
    return { profile, values, permissions, only, clock, embedded: true, stored, close };
  }
  const written = given?.profile ?? (await writtenProfile(options, stored));
  const target = targetOf(options, written, stored);
  const clock = stored === undefined ? written.clock : { speed: stored.journal.header.clockSpeed };
  const profile = { ...written, target, clock };
  const permissions = permissionsOf(options, profile, stored);
  if (stored?.offline !== true) refuseProduction(options, target, permissions);
  const values = valuesFor(options, profile, permissions, stored, given?.values);
  // The profile of a stored run has no target if that was the embedded server.
  const embedded = stored !== undefined && (options.target ?? written.target) === undefined;
  return { profile, values, permissions, only, embedded, stored, close: async () => {} };
}

const journalOf = ({ directory }: Pick<StoredRun, 'directory'>) => join(directory, JOURNAL_FILE);

/** The profile that was named, else the stored run's own. */
const profileOf = ({ profile }: CheckOptions, { directory }: StoredRun) =>
  profile ?? join(directory, PROFILE_FILE);

function storedRun({ resume, rejudge }: CheckOptions): StoredRun | undefined {
  const named = resume ?? rejudge;
  if (named === undefined) return undefined;
  // A link to the latest run will soon point to another one.
  const isLink = lstatSync(named, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  const to = isLink ? readlinkSync(named) : named;
  const directory = isLink && !isAbsolute(to) ? join(dirname(named), to) : to;
  const journal = readJournal(journalOf({ directory }));
  if (!journal.ok) throw new UsageError(journal.problem);
  if (rejudge !== undefined && !journal.entries.some((entry) => 'exchange' in entry))
    throw new UsageError(`${journalOf({ directory })}: it holds no exchange, so there is nothing to judge`);
  // What was added after the damage is not known, and would be taken for somebody else's.
  if (journal.damage !== undefined && rejudge === undefined)
    throw new UsageError(`${journal.damage}; --rejudge judges what is before, a new run starts anew`);
  return { directory, journal, offline: rejudge !== undefined };
}

async function writtenProfile(options: CheckOptions, stored: StoredRun | undefined): Promise<TargetProfile> {
  const file = stored === undefined ? options.profile : profileOf(options, stored);
  if (file === undefined)
    return { target: undefined, keys: usualKeys(environment(options.envFile)), ...PROFILE_DEFAULTS };
  const profile = await profileIn(file);
  const missing =
    stored?.journal.header.keys.filter((name) => profile.keys.every((key) => key.name !== name)) ?? [];
  if (missing.length > 0)
    throw new UsageError(`${file}: the stored run used keys that it lacks: ${missing.join(', ')}`);
  return profile;
}

function targetOf(options: CheckOptions, profile: TargetProfile, stored: StoredRun | undefined): string {
  const asked = options.target === undefined ? undefined : addressOf(options.target);
  if (stored !== undefined) {
    const before = stored.journal.header.target;
    const now = asked ?? profile.target;
    if (now !== undefined && now !== before) {
      const source = asked === undefined ? profileOf(options, stored) : '--target';
      throw new UsageError(
        `${journalOf(stored)}:1: the stored run checked ${before}, and ${source} names ${now}`,
      );
    }
    if (!stored.offline && now === undefined) {
      throw new UsageError(
        'the stored run checked the embedded reference server, which no longer runs: check it again',
      );
    }
    return before;
  }
  const target = asked ?? profile.target;
  if (target === undefined)
    throw new UsageError('no target is given: add target: to the profile, or --target URL');
  return target;
}

function permissionsOf(
  { permit }: CheckOptions,
  profile: TargetProfile,
  stored: StoredRun | undefined,
): readonly Permission[] {
  if (stored === undefined) return permit ?? profile.permit;
  const { permissions } = stored.journal.header;
  const added = permit?.filter((permission) => !permissions.includes(permission)) ?? [];
  if (added.length > 0) {
    throw new UsageError(`the stored run was not permitted ${added.join(', ')}: start a new one for that`);
  }
  return permissions;
}

function refuseProduction(
  { production }: CheckOptions,
  target: string,
  permissions: readonly Permission[],
): void {
  if (permissions.length === 0 || production === true || !looksLikeProduction(new URL(target))) return;
  throw new UsageError(
    `${new URL(target).hostname} may be in production use, and the run is permitted ${permissions.join(', ')}: if that is intended, add --production; to only read, drop the permissions`,
  );
}

/** Whether a key is used: it pays for ordinary checks, or a permission needs it. */
const isUsedWith =
  (permissions: readonly Permission[]) =>
  ({ roles }: ProfileKey): boolean =>
    roles.includes('functional') ||
    (roles.includes('ban') && permissions.includes('ban')) ||
    (roles.includes('exhaust') && permissions.some((name) => name === 'exhaust' || name === 'day'));

/** The values of the keys. If nothing is sent, none needs to be there. */
function valuesFor(
  { dryRun, envFile }: CheckOptions,
  profile: TargetProfile,
  permissions: readonly Permission[],
  stored: StoredRun | undefined,
  env = environment(envFile),
): ReadonlyMap<string, string> {
  if (dryRun === true || stored?.offline === true) return unsentValues(profile, env);
  const values = valuesOf(profile, env, isUsedWith(permissions));
  const { runId = '', keyPrints = {} } = stored?.journal.header ?? {};
  const others = profile.keys.filter(({ name }) => {
    const value = values.get(name);
    return value !== undefined && keyPrints[name] !== undefined && keyPrints[name] !== keyPrint(runId, value);
  });
  if (others.length === 0) return values;
  throw new UsageError(
    ...others.map(
      ({ name, env: variable }) =>
        `${variable} does not hold the key ${name} of the stored run: set it to that key, or start a new run`,
    ),
  );
}
