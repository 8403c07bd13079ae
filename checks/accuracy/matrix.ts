/** The results of all cases: what each requirement found, what else failed, and what no fault turned red. */
import { type AccuracyCase, type CaseResult, spendsDay } from './case.ts';
import { DISTURBANCES, type Disturbance } from './disturbances.ts';

export interface Entry {
  readonly case: AccuracyCase;
  readonly result: CaseResult;
}

const failed = ({ verdicts }: CaseResult) => verdicts.filter(({ verdict }) => verdict === 'fail');

const titleOf = ({ name, disturbance }: AccuracyCase) =>
  disturbance === undefined ? name : `${name}, ${disturbance}`;

const NOTHING: NonNullable<Disturbance['explains']> = { rows: /^$/, most: 0 };

/** What is open and may not be: everything without a disturbance, and with one what it does not explain. */
function openProblems({ case: { disturbance }, result }: Entry): string[] {
  const { rows, most, because } = DISTURBANCES.find(({ name }) => name === disturbance)?.explains ?? NOTHING;
  const open = result.verdicts.filter(
    ({ verdict, kinds }) => verdict === 'inconclusive' && !kinds.includes('not-shown'),
  );
  const problems = open.flatMap(({ id, reason, kinds }) =>
    rows.test(id) && (because === undefined || kinds.includes(because))
      ? []
      : [`inconclusive: ${id} (${reason})`],
  );
  if (problems.length === 0 && open.length > most) {
    const ids = open.map(({ id }) => id).join(', ');
    problems.push(`${open.length} inconclusive, at most ${most} explained: ${ids}`);
  }
  return problems;
}

/**
 * Reasons that are not true: they blame a row that passed or does not exist, count more than there are, or tell a number
 * that the run does not show.
 */
function untrue({ verdicts }: CaseResult): string[] {
  const byId = new Map(verdicts.map(({ id, verdict }) => [id, verdict]));
  return verdicts.flatMap(({ id, reason, blames, notShown }) => {
    const causes = blames.map((cause) => byId.get(cause));
    const shares = [...reason.matchAll(/\b(\d+) of (\d+)\b/g)];
    const problems = [
      ...(causes.includes(undefined) ? ['which blames a row that is not there'] : []),
      ...(causes.includes('pass') ? ['which blames a row that passed'] : []),
      ...(shares.some(([, part, whole]) => Number(part) > Number(whole)) ? ['which is more than all'] : []),
      ...notShown.map((number) => `but nothing shows ${number}`),
    ];
    return problems.map((problem) => `not true: ${id} says "${reason}", ${problem}`);
  });
}

/** A gate waits for the verdict: so many seconds a run may take. A Business key spends its day in an hour and a half. */
const LONGEST = { run: 350, ofDay: 7200 };

/** A line if the run took too long. */
function lateness({ case: accuracyCase, result: { seconds = 0 } }: Entry): string[] {
  const most = spendsDay(accuracyCase) ? LONGEST.ofDay : LONGEST.run;
  return seconds > most ? [`took ${Math.round(seconds)} s, at most ${most} are promised`] : [];
}

/**
 * The matrix as Markdown, the same for the same verdicts, its counts, and a line for each violation of the rules.
 *
 * @param checkable the requirements that must be seen red: each has a row
 */
export function matrixOf(all: readonly Entry[], checkable: readonly string[]) {
  const entries = all.toSorted((a, b) => titleOf(a.case).localeCompare(titleOf(b.case)));
  const problems: string[] = [];
  const kills: { breaks: string; found: boolean; text: string }[] = [];
  const servers: { disturbance?: string; title: string; ids: readonly string[] }[] = [];
  for (const entry of entries) {
    const { case: accuracyCase, result } = entry;
    const { kind, breaks = '' } = accuracyCase;
    const title = titleOf(accuracyCase);
    const ids = failed(result).map(({ id }) => id);
    const own = [...untrue(result), ...lateness(entry)];
    if (result.problem !== undefined) own.push(result.problem);
    if (kind === 'fault') {
      const [found, others] = [ids.includes(breaks), ids.filter((id) => id !== breaks)];
      const brackets = others.length === 0 ? '' : ` (${others.join(', ')})`;
      const { verdict, reason } = result.verdicts.find(({ id }) => id === breaks) ?? {};
      if (!found) own.push(`${breaks} did not fail${brackets.replace('(', 'but (')}: ${verdict} (${reason})`);
      kills.push({ breaks, found, text: `${found ? '' : '**missed:** '}${title}${brackets}` });
    } else {
      servers.push({ ...accuracyCase, title, ids });
      for (const { id, reason } of failed(result)) own.push(`${id} failed: ${reason}`);
      own.push(...openProblems(entry));
    }
    problems.push(...own.map((problem) => `${kind} ${title}: ${problem}`));
  }
  for (const id of checkable)
    if (!kills.some(({ breaks, found }) => breaks === id && found))
      problems.push(`requirement ${id} was never seen red`);
  if (servers.length === 0)
    problems.push('no conforming server was judged: nothing is known of false alarms');

  const counts = {
    faults: kills.length,
    found: kills.filter(({ found }) => found).length,
    conforming: servers.length,
    falseAlarms: servers.filter(({ ids }) => ids.length > 0).length,
  };
  const text = [
    '# What the suite finds, and that it never cries wolf',
    '',
    `Written by \`npm run accuracy -- --write\`. ${counts.found} of ${counts.faults} single faults found by the requirement that they break; ${counts.falseAlarms} false alarms on ${counts.conforming} conforming servers, disturbed or not.`,
    '',
    'A fault may break more than one statement of the document at once: what else failed with it is in brackets.',
    '',
    '| Requirement | Faults found by it |',
    '|---|---|',
    ...checkable.map((id) => {
      const own = kills.filter(({ breaks }) => breaks === id);
      return `| ${id} | ${own.map((kill) => kill.text).join('; ')} |`;
    }),
    '',
    'Variants of the reference server, and services of Express, Fastify, Go and FastAPI that bear the name of their limiter:',
    '',
    '| Conforming server | Failures |',
    '|---|---|',
    ...servers
      .filter(({ disturbance }) => disturbance === undefined)
      .map(({ title, ids }) => `| ${title} | ${ids.join(', ') || '0'} |`),
    '',
    "Each variant again, behind what is nobody's fault:",
    '',
    '| Disturbance | Variants | Of these failed | Rows that it may leave open |',
    '|---|---|---|---|',
    ...DISTURBANCES.map(({ name, explains = NOTHING }) => {
      const pairs = servers.filter(({ disturbance }) => disturbance === name);
      const alarms = pairs.filter(({ ids }) => ids.length > 0);
      return `| ${name} | ${pairs.length} | ${alarms.length} | ${explains.most} |`;
    }),
    '',
  ].join('\n');
  return { ...counts, problems, text };
}
