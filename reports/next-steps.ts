import type { Reason } from '../checks/run/reason.ts';
import { groupBy } from '../spec/group-by.ts';
import { count } from './facts.ts';
import { keyWanted } from './reasons.ts';
import type { Report } from './report.ts';
import type { Groups, Row, Rows } from './rows.ts';

/** What to do, and the command that does it, if there is one. */
export interface Step {
  readonly what: string;
  readonly command?: string;
}

/** What to do next, the most useful step first. Commands work as they stand. */
export function nextSteps(
  { run, problems }: Report,
  { causes, drifted, notVerified, skipped, known }: Groups,
): Step[] {
  const { command, interrupted, resume } = run;
  const steps: Step[] = [];
  if (interrupted !== undefined)
    steps.push(
      resume === undefined
        ? { what: 'Run it again', command }
        : { what: 'Continue the run', command: resume },
    );
  const alone = causes.filter(({ row }) => !isAside(row));
  if (alone.length > 0) {
    const only = `--only ${alone.map(({ row }) => row.id).join(',')}`;
    steps.push({ what: 'Repeat only what is broken', command: `${withoutOption(command, 'only')} ${only}` });
  }
  if (alone.length < causes.length) {
    const others = causes.flatMap(({ row }) => (isAside(row) ? row.id : []));
    steps.push({ what: `Repeat the run for ${others.join(', ')}: requests of other rows show it`, command });
  }
  if (interrupted === undefined) {
    steps.push(...problems.map((problem) => ({ what: problem, command })));
    // What was asked for and is not known makes the exit code; what was left out does not.
    const again = causes.length === 0 ? 'Run again' : 'Mend what is broken and run again';
    for (const groups of [notVerified, skipped]) {
      const rows = groups.flatMap((group) => group.rows);
      steps.push(...toVerifyMore(run, rows, again));
    }
  }
  if (drifted.length > 0)
    steps.push({ what: 'Restore the pinned answers, or pin the new ones in the profile under gaps:' });
  if (known.length > 0 && causes.length === 0)
    steps.push({ what: 'Fix the known failures and shorten the baseline' });
  return steps.length > 0 ? steps : [{ what: 'Nothing to do; repeat after every change', command }];
}

const isAside = ({ why }: Row) => why.some((reason) => reason.kind === 'broken' && reason.aside === true);

const withoutOption = (command: string, name: string): string =>
  command.replace(new RegExp(` --${name}[ =]('[^']*'|\\S)+`), '');

/** What would remove a reason; undefined where nobody can say. */
function remedy(reason: Reason, { command, permissions }: Report['run']): Step | undefined {
  switch (reason.kind) {
    case 'not-permitted':
      return {
        what: `permit ${reason.permission}`,
        // The option replaces the profile's permissions, so it names all of them.
        command: `${withoutOption(command, 'permit')} --permit ${[...new Set([...permissions, reason.permission])].join(',')}`,
      };
    case 'no-key':
      return { what: `add a ${keyWanted(reason.wanted)} to the profile` };
    case 'day-spent':
      return { what: `give the run a key with requests left for its day, in place of ${reason.key}` };
    case 'traffic':
      return { what: 'check the target', command };
    case 'left-out':
      return { what: 'leave out --only', command: withoutOption(command, 'only') };
    case 'interference':
      return { what: 'use keys that no other client uses', command };
    default:
      return undefined;
  }
}

/** The steps that would verify more, the most effective first. If no reason suggests one, another run may help. */
function toVerifyMore(run: Report['run'], rows: Rows, again: string): Step[] {
  const remedies = rows.flatMap(({ why }) => why.flatMap((reason) => remedy(reason, run) ?? []).slice(0, 1));
  const steps = [...groupBy(remedies, ({ what }) => what).values()]
    .sort((a, b) => b.length - a.length)
    .map((alike) => ({ ...alike[0], what: `To verify ${alike.length} more: ${alike[0].what}` }));
  if (steps.length > 0 || rows.length === 0) return steps;
  const left = count(rows.length, 'requirement');
  return [{ what: `${again}: ${left} could not be judged this time`, command: run.command }];
}
