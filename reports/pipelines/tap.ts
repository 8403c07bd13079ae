import { stringify } from 'yaml';
import { runItself, type Standing, type TestCase, type TestRun } from '../test-run.ts';

/** TAP 14 of a run that is over. */
export function renderTap(run: TestRun): string {
  let text = '';
  liveTap((more) => {
    text += more;
  }).end(run);
  return text;
}

/**
 * TAP 14 during a run: each case as soon as it is decided. At the end come the run itself, the other cases, and once more
 * those whose standing changed. What could not be judged is `not ok`, as a skip looks green.
 */
export function liveTap(write: (text: string) => void) {
  const told = new Map<string, Standing>();
  let number = 0;
  const decided = (one: TestCase) => {
    told.set(one.name, one.standing);
    number += 1;
    write(pointOf(one, number));
  };
  write('TAP version 14\n');
  return {
    decided,
    end(run: TestRun) {
      for (const one of run.cases) if (told.get(one.name) !== one.standing) decided(one);
      // The headline changes from run to run, so it is a comment.
      write(`# ${run.headline}\n`);
      decided(runItself(run));
      write(`1..${number}\n`);
    },
    /** Ends the output of a run that had nothing to judge. */
    bailOut: (why: string) => write(`Bail out! ${why}\n`),
  };
}

const NOT_OK: readonly Standing[] = ['fail', 'inconclusive', 'known'];

function pointOf({ name, standing, reason, about, facts }: TestCase, number: number): string {
  const isOk = !NOT_OK.includes(standing);
  const skipped = isOk && standing !== 'pass' ? ` # SKIP ${escaped(reason)}` : '';
  const known = standing === 'known' ? ' # TODO covered by the baseline' : '';
  const head = `${isOk ? 'ok' : 'not ok'} ${number} - ${escaped(name)}${skipped}${known}\n`;
  if (isOk) return head;
  const yaml = stringify({ reason, ...about, ...facts }, { lineWidth: 0 })
    .trimEnd()
    .replace(/^(?!$)/gm, '  ');
  return `${head}  ---\n${yaml}\n  ...\n`;
}

/** In a description and a directive `#` would begin a directive, and `\` escapes it. */
const escaped = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('#', '\\#');
