import { type CheckedTarget, checkTarget } from '../../checks/check-target.ts';
import type { TargetProfile } from '../../checks/profile/target-profile.ts';
import type { RunEvent } from '../../checks/run/run-events.ts';
import { wayOf } from '../../checks/wire/access.ts';
import { curl } from '../../checks/wire/curl.ts';
import type { Exchange } from '../../checks/wire/exchange.ts';
import { type RunSurroundings, reportOf, requirementRow } from '../../reports/from-run.ts';
import type { Report, RequirementResult } from '../../reports/report.ts';
import { type Gate, gated } from '../../reports/verdict.ts';
import { requirement } from '../../spec/contract.ts';
import { HARNESS_VERSION } from '../../spec/harness-version.ts';
import { interruptedBy } from '../shared/interruption.ts';
import { shellWord } from './check-options.ts';
import type { CheckSubject } from './check-subject.ts';

/** What is asked of a run beside its checks. */
export interface Asked extends Gate {
  /** The command that repeats the run. */
  readonly command: string;
  /** The command that continues a run that was cut short, if its journal is there. */
  readonly resume?: () => string | undefined;
  /** The profile's file, as it was named. */
  readonly profile?: string;
  /** Told of each row as soon as it is decided, with its decisive exchange. The end of the run may still change it. */
  readonly onDecided?: (row: RequirementResult, decisive: Exchange | undefined) => void;
}

/** Checks the subject and makes the report. */
export async function judgedCheck(
  subject: CheckSubject,
  asked: Asked,
): Promise<{ readonly report: Report; readonly checked: CheckedTarget }> {
  const repeating = repeatingWith(subject.profile);
  const onEvent = (event: RunEvent) => {
    subject.onEvent?.(event);
    if (event.kind !== 'check-ended') return;
    const decided = requirementRow(requirement(event.id), event, repeating);
    for (const row of gated([decided], asked)) asked.onDecided?.(row, event.evidence[0]);
  };
  const checked = await checkTarget({ ...subject, onEvent });
  const facts = factsOf(subject, asked);
  const report = reportOf(checked, { ...asked, repeating, pinned: subject.profile.gaps, facts });
  return { report, checked };
}

/** What is known of a run apart from what it measures. */
function factsOf(
  { profile, access, permissions, only, clock, traffic, signal }: CheckSubject,
  { command, resume, profile: file }: Asked,
): RunSurroundings['facts'] {
  // Who watches ends it so.
  const interrupted = traffic === undefined ? interruptedBy(signal) : undefined;
  return {
    id: 'not-begun',
    startedAt: new Date().toISOString(),
    durationSeconds: 0,
    harnessVersion: HARNESS_VERSION,
    target: profile.target,
    permissions,
    keys: profile.keys.map(({ name, plan, roles }) => ({ name, plan, roles })),
    clockSpeed: profile.clock.speed,
    command,
    ...{ only, interrupted, profile: file },
    sharedClock: clock && true,
    traffic: traffic && true,
    resume: interrupted && resume?.(),
    way: wayOf(access),
  };
}

/** curl's options for what stands in front of a target. */
function accessInShell({ headers, tls }: TargetProfile): string[] {
  const own = headers.map(({ name, value, env }) =>
    env === undefined ? shellWord(`${name}: ${value}`) : `"${name}: $${env}"`,
  );
  const files = Object.entries({ '--cacert': tls.ca, '--cert': tls.cert, '--key': tls.key });
  return [
    ...own.flatMap((header) => ['-H', header]),
    ...files.flatMap(([option, file]) => (file === undefined ? [] : [option, shellWord(file)])),
    ...(tls.passphraseEnv === undefined ? [] : ['--pass', `"$${tls.passphraseEnv}"`]),
    ...(tls.insecure ? ['--insecure'] : []),
  ];
}

/** Makes commands that repeat an exchange; wrong keys they derive from the first of the profile's. */
function repeatingWith(profile: CheckSubject['profile']): (exchange: Exchange) => string {
  const { target, keys } = profile;
  const access = accessInShell(profile);
  return (exchange) => {
    const { env } = keys.find(({ name }) => name === exchange.key) ?? {};
    // Of traffic a key may be unknown: it is in nobody's variable yet.
    const variable = env ?? exchange.key?.toUpperCase().replaceAll('-', '_');
    return curl(exchange, target, variable, keys[0]?.env, access);
  };
}
