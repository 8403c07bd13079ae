import type { GapResult, Report, RequirementResult } from './report.ts';

/** A report sorted by what a reader does about it; every renderer shows these groups. */
export interface Outcome {
  /** Broken and gating. */
  readonly broken: readonly RequirementResult[];
  /** Broken, but listed in the baseline. */
  readonly known: readonly RequirementResult[];
  /** Pinned answers that the target no longer gives; they gate. */
  readonly drifted: readonly GapResult[];
  /** Not verified although the document says MUST: a run with one is never conformant. */
  readonly notVerified: readonly RequirementResult[];
  /** Not verified where the document says MAY. */
  readonly mayNotVerified: readonly RequirementResult[];
  readonly passed: readonly RequirementResult[];
  readonly notApplicable: readonly RequirementResult[];
  /** One line: the verdict and its numbers. */
  readonly headline: string;
}

/** Sorts a report's results and words its verdict. */
export function outcome(report: Report): Outcome {
  const { requirements } = report;
  const failed = requirements.filter(({ verdict }) => verdict === 'fail');
  const open = requirements.filter(({ verdict }) => verdict === 'inconclusive');
  const groups = {
    broken: failed.filter(({ baselined }) => baselined !== true),
    known: failed.filter(({ baselined }) => baselined === true),
    drifted: report.gaps.filter(({ verdict }) => verdict === 'drifted'),
    notVerified: open.filter(({ level }) => level === 'MUST'),
    mayNotVerified: open.filter(({ level }) => level === 'MAY'),
    passed: requirements.filter(({ verdict }) => verdict === 'pass'),
    notApplicable: requirements.filter(({ verdict }) => verdict === 'not-applicable'),
  };
  return { ...groups, headline: headline(report, groups) };
}

function headline(report: Report, groups: Omit<Outcome, 'headline'>): string {
  const { broken, known, drifted, notVerified, mayNotVerified, passed } = groups;
  const checkable = report.requirements.length - groups.notApplicable.length;
  const parts: string[] = [];
  if (broken.length > 0) parts.push(`${broken.length} of ${count(checkable, 'requirement')} broken`);
  if (drifted.length > 0) parts.push(`${count(drifted.length, 'pinned answer')} drifted`);
  if (known.length > 0) parts.push(`${count(known.length, 'known failure')}`);
  if (notVerified.length > 0) parts.push(`${notVerified.length} not verified`);
  if (mayNotVerified.length > 0) parts.push(`${mayNotVerified.length} of level MAY not verified`);
  if (broken.length === 0) parts.unshift(`${passed.length} of ${count(checkable, 'requirement')} verified`);
  return `${VERDICT_WORDS[report.verdict]}: ${parts.join(', ')}`;
}

/** The verdict as a reader says it. */
export const VERDICT_WORDS = {
  conformant: 'Conformant',
  'not-conformant': 'Not conformant',
  inconclusive: 'Inconclusive',
} as const satisfies Record<Report['verdict'], string>;

/** `1 request`, `2 requests`, `1,859 requests`. */
export function count(number: number, noun: string): string {
  return `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`;
}

/** A failure in one line: what came, and what was asked where the reason does not say it. */
export function failureLine({ reason, expected }: RequirementResult): string {
  return expected === undefined ? reason : `${reason.replace(/\.$/, '')}; asked for: ${expected}`;
}

/** A pinned answer that the target no longer gives, in one line. */
export function driftLine({ observed, pinned, detail }: GapResult): string {
  return `answers ${observed ?? 'nothing'}, the profile pins ${pinned ?? 'nothing'} (${detail})`;
}

/** Requirements that share a reason, the largest group first: forty checks may lack the same permission. */
export function byReason(
  rows: readonly RequirementResult[],
): { readonly reason: string; readonly rows: readonly RequirementResult[] }[] {
  const groups = new Map<string, RequirementResult[]>();
  for (const row of rows) groups.set(row.reason, [...(groups.get(row.reason) ?? []), row]);
  return [...groups]
    .map(([reason, group]) => ({ reason, rows: group }))
    .sort((a, b) => b.rows.length - a.rows.length);
}

/**
 * Why a run's verdict does not follow from its requirements and pinned answers alone (it was cut short, a baseline
 * entry is out of date, nothing ran), or undefined. Formats that consist of test cases need a case for it, so that
 * they are never green where the run is not.
 */
export function unexplainedVerdict(report: Report): string | undefined {
  const { broken, drifted, notVerified } = outcome(report);
  if (report.run.interrupted !== undefined) return `The run ended early: ${report.run.interrupted}`;
  if (report.verdict === 'conformant') return undefined;
  if (broken.length + drifted.length + notVerified.length > 0) return undefined;
  return `The verdict of the run is ${report.verdict}; see its report`;
}

/** A command line for more ids than these is nobody's to read. */
const MOST_REPEATED = 8;

/** What to do next, the most useful first; commands are given as they would be typed. */
export function nextSteps(report: Report): { readonly what: string; readonly command?: string }[] {
  const { broken, drifted, notVerified, known } = outcome(report);
  const steps: { what: string; command?: string }[] = [];
  if (broken.length > 0) {
    const first = broken.slice(0, MOST_REPEATED);
    const what =
      first.length < broken.length
        ? `Repeat the first ${first.length} broken ones alone`
        : 'Repeat what is broken alone';
    steps.push({ what, command: onlyCommand(report, first) });
  }
  if (report.run.interrupted !== undefined)
    steps.push({ what: 'Run again to the end', command: report.run.command });
  else steps.push(...toVerifyMore(report, notVerified));
  if (drifted.length > 0)
    steps.push({ what: 'Restore the pinned answers, or pin the new ones in the profile under gaps:' });
  if (known.length > 0 && broken.length === 0)
    steps.push({ what: 'Known failures are left; fix them and shorten the baseline' });
  if (steps.length === 0)
    steps.push({ what: 'Nothing to do; repeat after every change', command: report.run.command });
  return steps;
}

/** More steps than these are nobody's to take at once. */
const MOST_STEPS = 3;

const again = (command: string) => command;

/** A command with one permission more. */
function permitting(command: string, permission: string): string {
  const permit = / --permit (\S+)/;
  return permit.test(command)
    ? command.replace(permit, ` --permit $1,${permission}`)
    : `${command} --permit ${permission}`;
}

/** What to do about a reason that is common; the step's text, and what is added to the command. */
const REMEDIES: readonly (readonly [reason: RegExp, remedy: (...found: string[]) => Remedy])[] = [
  [
    /^needs the permission (\w+)$/,
    (permission = '') => ({
      what: `permit ${permission}`,
      command: (command) => permitting(command, permission),
    }),
  ],
  [
    /^(?:the profile has no (\w+) key|no usable key) (?:with|has) the role (\w+)$/,
    (plan = '', role = '') => ({
      what: `add ${/^[aeiou]/.test(plan) ? 'an' : 'a'}${plan === '' ? '' : ` ${plan}`} key with the role ${role} to the profile`,
    }),
  ],
  [
    /unusedToday: true for key/,
    () => ({ what: 'say in the profile which keys nobody has used today (unusedToday: true)' }),
  ],
  [/somebody else/, () => ({ what: 'use keys that nobody else spends', command: again })],
  [
    /too slow to fill the minute/,
    () => ({ what: 'run from nearer to the target, or when either is less busy', command: again }),
  ],
];

interface Remedy {
  readonly what: string;
  /** The command from the one that repeats the run; undefined where a command is not enough. */
  readonly command?: (command: string) => string;
}

/** What would verify more, the most first; where no reason names it, another run may. */
function toVerifyMore(
  report: Report,
  notVerified: readonly RequirementResult[],
): { what: string; command?: string }[] {
  const remedies = new Map<string, { remedy: Remedy; verified: number }>();
  for (const { reason } of notVerified) {
    for (const [pattern, remedyOf] of REMEDIES) {
      const found = pattern.exec(reason);
      if (found === null) continue;
      const remedy = remedyOf(...found.slice(1));
      remedies.set(remedy.what, { remedy, verified: (remedies.get(remedy.what)?.verified ?? 0) + 1 });
      break;
    }
  }
  const steps = [...remedies.values()]
    .sort((a, b) => b.verified - a.verified)
    .slice(0, MOST_STEPS)
    .map(({ remedy: { what, command }, verified }) => ({
      what: `To verify ${verified} more: ${what}`,
      ...(command === undefined ? {} : { command: command(report.run.command) }),
    }));
  if (steps.length > 0 || notVerified.length === 0) return steps;
  const left = count(notVerified.length, 'requirement');
  return [
    {
      what: `Run again: ${left} could not be judged this time, and each says why`,
      command: report.run.command,
    },
  ];
}

function onlyCommand(report: Report, rows: readonly RequirementResult[]): string {
  const command = report.run.command.replace(/ --only[ =]\S+/, '');
  return `${command} --only ${rows.map(({ id }) => id).join(',')}`;
}
