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
    this.#write(casePoint(one, this.#next()));
  }

  end(run: TestRun): void {
    const told = new Map(this.#told);
    for (const one of run.cases) if (told.get(one.name) !== one.standing) this.decided(one);
    this.#write(`${runPoint(run, this.#next())}1..${this.#number}\n`);
  }

  /** Ends the output of a run that had nothing to judge. */
  bailOut(why: string): void {
    this.#write(`Bail out! ${why}\n`);
  }

  #next(): number {
    this.#number += 1;
    return this.#number;
  }
}

const NOT_OK: readonly Standing[] = ['fail', 'inconclusive', 'known'];

/** The headline changes from run to run, so it is a comment. */
function runPoint(run: TestRun, number: number): string {
  const { problems, headline } = run;
  const diagnostic = problems.length > 0 ? { headline, problems } : undefined;
  return `# ${headline}\n${tapPoint(number, problems.length === 0, runItself(run).name, '', diagnostic)}`;
}

function casePoint({ name, standing, reason, about, facts }: TestCase, number: number): string {
  if (standing === 'pass') return tapPoint(number, true, name, '');
  if (!NOT_OK.includes(standing)) return tapPoint(number, true, name, `SKIP ${reason}`);
  const directive = standing === 'known' ? 'TODO known failure, listed in the baseline' : '';
  return tapPoint(number, false, name, directive, { reason, ...about, ...facts });
}

function tapPoint(
  number: number,
  ok: boolean,
  description: string,
  directive: string,
  diagnostic?: object,
): string {
  const suffix = directive === '' ? '' : ` # ${escapeHash(directive)}`;
  const head = `${ok ? 'ok' : 'not ok'} ${number} - ${escapeHash(description)}${suffix}\n`;
  if (diagnostic === undefined) return head;
  const yaml = stringify(diagnostic, { lineWidth: 0 })
    .trimEnd()
    .replace(/^(?!$)/gm, '  ');
  return `${head}  ---\n${yaml}\n  ...\n`;
}

/** In a description and a directive `#` would begin a directive, and `\` escapes it. */
function escapeHash(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('#', '\\#');
}
