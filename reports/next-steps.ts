import { count, outcome } from './outcome.ts';
import type { Report, RequirementResult } from './report.ts';

/** What to do, and the command that does it, if there is one. */
export interface Step {
  readonly what: string;
  readonly command?: string;
}

/** A command with more ids would be unreadable. */
const MOST_REPEATED = 8;
/** More steps would not help a reader. */
const MOST_STEPS = 3;

/** What to do next, the most useful step first. Commands work as they stand. */
export function nextSteps(report: Report): Step[] {
  const { broken, drifted, notVerified, skipped, known } = outcome(report);
  const { command, interrupted, resume } = report.run;
  const steps: Step[] = [];
  if (broken.length > 0) {
    const first = broken.slice(0, MOST_REPEATED);
    const what =
      first.length < broken.length
        ? `Repeat only the first ${first.length} that are broken`
        : 'Repeat only what is broken';
    steps.push({ what, command: onlyCommand(command, first) });
  }
  if (interrupted !== undefined && resume !== undefined)
    steps.push({ what: 'Continue the run', command: resume });
  else if (interrupted !== undefined) steps.push({ what: 'Run it again', command });
  else steps.push(...toVerifyMore(report, [...notVerified, ...skipped]));
  if (drifted.length > 0)
    steps.push({ what: 'Restore the pinned answers, or pin the new ones in the profile under gaps:' });
  if (known.length > 0 && broken.length === 0)
    steps.push({ what: 'Only known failures remain; fix them and shorten the baseline' });
  if (steps.length > 0) return steps;
  const what = report.problems[0] ?? 'Nothing to do; repeat after every change';
  return [{ what, command }];
}

function onlyCommand(command: string, rows: readonly RequirementResult[]): string {
  return `${withoutOption(command, 'only')} --only ${rows.map(({ id }) => id).join(',')}`;
}

function withoutOption(command: string, name: string): string {
  return command.replace(new RegExp(` --${name}[ =]('[^']*'|\\S)+`), '');
}

/** The step that would remove a reason. */
type Remedy = (run: Report['run'], ...found: readonly string[]) => Step;

const REMEDIES: readonly (readonly [reason: RegExp, remedy: Remedy])[] = [
  [
    /^needs the permission (\w+)$/,
    ({ command, permissions }, permission = '') => ({
      what: `permit ${permission}`,
      // The option replaces the profile's permissions, so it names all of them.
      command: `${withoutOption(command, 'permit')} --permit ${[...new Set([...permissions, permission])].join(',')}`,
    }),
  ],
  [
    /^(?:the profile has no (?:(\w+) )?key|no usable key)(?: of plan (\w+))? (?:with|has) the role (\w+)$/,
    (_run, plan, ofPlan, role) => ({
      what: `add a key${(ofPlan ?? plan) === undefined ? '' : ` of plan ${ofPlan ?? plan}`} with the role ${role} to the profile`,
    }),
  ],
  [/^left out by --only$/, ({ command }) => ({ what: 'run all', command: withoutOption(command, 'only') })],
  [
    /unusedToday: true for key/,
    () => ({ what: 'mark in the profile which keys have not been used today (unusedToday: true)' }),
  ],
  [/another client/, ({ command }) => ({ what: 'use keys that no other client uses', command })],
  [
    /too slow to fill the minute/,
    ({ command }) => ({ what: 'run closer to the target, or when both are less busy', command }),
  ],
];

/** The steps that would verify more, the most effective first. If no reason suggests one, another run may help. */
function toVerifyMore(report: Report, rows: readonly RequirementResult[]): Step[] {
  const remedies = new Map<string, { readonly step: Step; readonly verified: number }>();
  for (const { reason } of rows) {
    for (const [pattern, remedy] of REMEDIES) {
      const found = pattern.exec(reason);
      if (found === null) continue;
      const step = remedy(report.run, ...found.slice(1));
      remedies.set(step.what, { step, verified: (remedies.get(step.what)?.verified ?? 0) + 1 });
      break;
    }
  }
  const steps = [...remedies.values()]
    .sort((a, b) => b.verified - a.verified)
    .slice(0, MOST_STEPS)
    .map(({ step, verified }) => ({ ...step, what: `To verify ${verified} more: ${step.what}` }));
  if (steps.length > 0 || rows.length === 0) return steps;
  const left = count(rows.length, 'requirement');
  return [
    {
      what: `Run again: ${left} could not be judged this time, each for its own reason`,
      command: report.run.command,
    },
  ];
}
