import { lstatSync, realpathSync } from 'node:fs';
import { join, relative } from 'node:path';
import { type CheckRequest, JOURNAL_FILE } from '../../checks/check-target.ts';
import { accessOf, type Environment, keyValues } from '../../checks/profile/environment.ts';
import { readProfile, type Surroundings } from '../../checks/profile/parse-profile.ts';
import { looksLikeProduction } from '../../checks/profile/production-address.ts';
import { serverProfile } from '../../checks/profile/server-profile.ts';
import { PROFILE_DEFAULTS, type TargetProfile } from '../../checks/profile/target-profile.ts';
import { UsageError } from '../../checks/profile/usage-error.ts';
import { sharedClock } from '../../checks/run/clock.ts';
import { keyPrint, readJournal } from '../../checks/run/journal.ts';
import { startReferenceServer } from '../../reference-server/reference-server.ts';
import { PERMISSIONS } from '../../spec/permissions.ts';
import { rulesOf } from '../rules.ts';
import { withHeaders } from '../shared/option-values.ts';
import { addressIn, environment, unsentValues, usualKeys } from '../shared/profile-file.ts';
import { PROFILE_FILE } from './check-folder.ts';
import { type CheckOptions, selectedIds } from './check-options.ts';

/** What is to be checked, with which keys and permissions. `resume` is an earlier run, which is resumed or rejudged. */
export interface CheckSubject extends CheckRequest {
  /** Whether the target is the reference server in this process, or was, in a stored run. */
  readonly embedded: boolean;
  /** The folder of the earlier run. */
  readonly stored?: string;
  /** Ends the embedded server. */
  close?(): Promise<void>;
}

/** An earlier run in its folder. Offline nothing is sent. */
type StoredRun = Required<Pick<CheckSubject, 'stored' | 'resume' | 'offline'>>;

/** What is not in the options. */
interface Beside {
  /** The profile, if it is not in a file, and what is secret of it by the names of its variables. */
  readonly given?: { readonly profile: TargetProfile; readonly values: Environment } | undefined;
  /** The traffic of other clients. Of their keys none has to be known: a profile tells names and plans. */
  readonly traffic?: CheckRequest['traffic'];
}

/**
 * What the options ask to be checked: a target of the profile or the command line, a stored run, or the embedded
 * reference server, which is started here.
 *
 * @throws UsageError for all that is wrong with options, profile, keys or the stored run
 */
export async function checkSubject(
  options: CheckOptions,
  { given, traffic }: Beside = {},
): Promise<CheckSubject> {
  const run = storedRun(options);
  const before = run?.resume.header;
  // A file that is not there is a mistake, also where the target has its own keys.
  const env = { ...environment(options.envFile), ...given?.values };
  // Rules of one's own can be named too, once they are known.
  const asked = () => (options.only === undefined ? before?.only : selectedIds(options.only));
  if ((options.target ?? options.profile ?? run ?? given ?? traffic) === undefined) {
    const only = asked();
    const permissions = options.permit ?? PERMISSIONS;
    return { ...(await startEmbeddedTarget()), only, permissions, embedded: true };
  }
  const offline = run?.offline ?? traffic !== undefined;
  const isSent = options.dryRun !== true && run?.offline !== true && options.traffic === undefined;
  const asking = traffic === undefined ? (before?.permissions ?? options.permit) : [];
  const needs: Surroundings = {
    env,
    isUsed: (roles, permit) => traffic === undefined && isUsed(roles, asking ?? permit),
  };
  // The stored run's own profile, else the one that was named, else one of the usual keys.
  const file = run === undefined ? options.profile : join(run.stored, PROFILE_FILE);
  const found = () =>
    file === undefined
      ? { target: undefined, keys: traffic === undefined ? usualKeys(env) : [], ...PROFILE_DEFAULTS }
      : readProfile(file, isSent ? needs : undefined);
  const written = withHeaders(given?.profile ?? found(), options.header);
  // Whoever judges a stored run runs no code that its folder names.
  const rules = run === undefined ? await rulesOf(written.rules, options.profile) : [];
  const only = asked();
  // The profile of a stored run has no target if that was the embedded server.
  const embedded = before !== undefined && written.target === undefined;
  if (embedded && run?.offline === false)
    throw new UsageError(
      'the stored run checked the embedded reference server, which no longer runs: check it again',
    );
  const target = before?.target ?? addressIn(written, options.target);
  const permissions = asking ?? written.permit;
  const mayWork = offline || permissions.length === 0 || options.production === true;
  if (!mayWork && looksLikeProduction(new URL(target)))
    throw new UsageError(
      `${new URL(target).hostname} may be in production use, and the run is permitted ${permissions.join(', ')}: if that is intended, add --production; to only read, drop the permissions`,
    );
  const values = isSent || traffic !== undefined ? keyValues(written, env) : unsentValues(written);
  if (run !== undefined) refuseOtherKeys(run, written, values);
  return {
    ...{ ...run, offline, traffic, only, rules },
    access: isSent ? accessOf(written, target, env) : undefined,
    profile: { ...written, target, clock: { speed: before?.clockSpeed ?? written.clock.speed } },
    ...{ values, permissions, embedded },
  };
}

function storedRun({ resume: resumed, rejudge }: CheckOptions): StoredRun | undefined {
  const named = resumed ?? rejudge;
  if (named === undefined) return undefined;
  // A link to the latest run will soon point to another one.
  const isLink = lstatSync(named, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  const stored = isLink ? relative('', realpathSync(named)) : named;
  const journal = join(stored, JOURNAL_FILE);
  const resume = readJournal(journal);
  if (rejudge !== undefined && !resume.entries.some((entry) => 'exchange' in entry))
    throw new UsageError(`${journal}: it holds no exchange, so there is nothing to judge`);
  // What was added after the damage is not known, and would be taken for somebody else's.
  if (resume.damage !== undefined && rejudge === undefined)
    throw new UsageError(`${resume.damage}; --rejudge judges what is before, a new run starts anew`);
  return { stored, resume, offline: rejudge !== undefined };
}

/** Whether a key with these roles is used: it pays for ordinary checks, or a permission needs it. */
const isUsed = (roles: readonly string[], permissions: readonly string[]): boolean =>
  roles.includes('functional') ||
  (roles.includes('ban') && permissions.includes('ban')) ||
  (roles.includes('exhaust') && permissions.some((name) => name === 'exhaust' || name === 'day'));

/** @throws UsageError for a key of the stored run that the profile lacks, or that has another value where it is sent */
function refuseOtherKeys(
  { resume: { header }, stored, offline }: StoredRun,
  { keys }: TargetProfile,
  values: ReadonlyMap<string, string>,
): void {
  const { runId, keyPrints = {} } = header;
  const missing = header.keys.filter((name) => keys.every((key) => key.name !== name));
  if (missing.length > 0)
    throw new UsageError(
      `${join(stored, PROFILE_FILE)}: the stored run used keys that it lacks: ${missing.join(', ')}`,
    );
  const others = keys.filter(({ name }) => {
    const [value, print] = [values.get(name), keyPrints[name]];
    return value !== undefined && print !== undefined && print !== keyPrint(runId, value);
  });
  if (others.length === 0 || offline) return;
  throw new UsageError(
    ...others.map(
      ({ name, env }) =>
        `${env} does not hold the key ${name} of the stored run: set it to that key, or start a new run`,
    ),
  );
}

/** Starts the reference server on a free port of the loopback interface, as a target that permits everything. */
export async function startEmbeddedTarget() {
  // Shared by server and run, so that nothing waits a real second for a simulated one.
  const clock = sharedClock();
  const server = await startReferenceServer({
    clock,
    // Numbers that add little to the run.
    enterprise: { perMinute: 600, perDay: 6000 },
    // With those that a run adds still fewer than a list may hold: only then does a list show the whole store.
    animals: 30,
  });
  const keys = server.keys.filter(({ name }) => !name.includes('load'));
  return {
    profile: serverProfile({ ...server, keys }),
    clock,
    values: new Map(keys.map(({ name, value }) => [name, value])),
    close: () => server.close(),
  };
}
