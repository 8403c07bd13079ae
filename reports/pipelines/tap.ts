import { stringify } from 'yaml';
import { runItself, type Standing, type TestCase, type TestRun } from '../test-run.ts';

/** TAP 14 of a run that is over. */
export function renderTap(run: TestRun): string {
  let text = '';
  new LiveTap((more) => {
    text += more;
  }).end(run);
  return text;
}

/**
 * TAP 14 during a run: each case as soon as it is decided. At the end come the run itself, the other cases, and once more
 * those whose standing changed. What could not be judged is `not ok`, as a skip looks green.
 */
export class LiveTap {
  readonly #write: (text: string) => void;
  readonly #told = new Map<string, Standing>();
  #number = 0;

  constructor(write: (text: string) => void) {
    this.#write = write;
    write('TAP version 14\n');
  }

  decided(one: TestCase): void {
    this.#told.set(one.name, one.standing);
    this.#number += 1;
    this.#write(pointOf(one, this.#number));
  }

  end(run: TestRun): void {
    for (const one of run.cases) if (this.#told.get(one.name) !== one.standing) this.decided(one);
    // The headline changes from run to run, so it is a comment.
    this.#write(`# ${run.headline}\n`);
    this.decided(runItself(run));
    this.#write(`1..${this.#number}\n`);
  }

  /** Ends the output of a run that had nothing to judge. */
  bailOut(why: string): void {
    this.#write(`Bail out! ${why}\n`);
  }
}

const NOT_OK: readonly Standing[] = ['fail', 'inconclusive', 'known'];

function pointOf({ name, standing, reason, about, facts }: TestCase, number: number): string {
  const isOk = !NOT_OK.includes(standing);
  const skipped = isOk && standing !== 'pass' ? ` # SKIP ${escaped(reason)}` : '';
  const known = standing === 'known' ? ' # TODO known failure, listed in the baseline' : '';
  const head = `${isOk ? 'ok' : 'not ok'} ${number} - ${escaped(name)}${skipped}${known}\n`;
  if (isOk) return head;
  const yaml = stringify({ reason, ...about, ...facts }, { lineWidth: 0 })
    .trimEnd()
    .replace(/^(?!$)/gm, '  ');
  return `${head}  ---\n${yaml}\n  ...\n`;
}

/** In a description and a directive `#` would begin a directive, and `\` escapes it. */
const escaped = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('#', '\\#');
