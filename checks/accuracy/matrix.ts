/** The results of all cases: what each requirement found, what else failed, and what no fault turned red. */
import { causesIn } from '../run/cause.ts';
import type { AccuracyCase, CaseResult } from './case.ts';

export interface Entry {
  readonly case: AccuracyCase;
  readonly result: CaseResult;
}

export interface Matrix {
  readonly faults: number;
  readonly found: number;
  readonly variants: number;
  readonly falseAlarms: number;
  readonly withoutKill: readonly string[];
  readonly rows: readonly MatrixRow[];
  readonly conforming: readonly Entry[];
  /** One line for each violation of the rules. */
  readonly problems: readonly string[];
}

export interface MatrixRow {
  readonly requirement: string;
  /** The faults that name this requirement, with everything else that failed. */
  readonly kills: readonly {
    readonly fault: string;
    readonly found: boolean;
    readonly collateral: readonly string[];
  }[];
}

const failed = ({ verdicts }: CaseResult) =>
  verdicts.filter(({ verdict }) => verdict === 'fail').map(({ id }) => id);

/** Requirements that a case left inconclusive, except those that no exchange shows. */
const open = ({ verdicts }: CaseResult): string[] =>
  verdicts
    .filter(
      ({ verdict, reason }) =>
        verdict === 'inconclusive' && !/^no exchange of this run shows it/.test(reason),
    )
    .map(({ id, reason }) => `${id} (${reason})`);

const title = ({ name, kind, style, animals, busy }: AccuracyCase) =>
  `${kind === 'fault' && style !== undefined ? `${style}: ` : ''}${name}${animals === undefined ? '' : `, ${animals.toLocaleString('en')} foreign animals`}${busy === true ? ', another client adding' : ''}`;

/**
 * Reasons that are not true: they blame a row that passed or does not exist, count more than there are, or tell a number
 * that the run does not show.
 */
function untrue({ verdicts }: CaseResult): string[] {
  const byId = new Map(verdicts.map(({ id, verdict }) => [id, verdict]));
  return verdicts.flatMap(({ id, reason, notShown }) => {
    const blames = causesIn(reason).flatMap((cause) => {
      const verdict = byId.get(cause);
      return verdict === undefined || verdict === 'pass'
        ? [`${id} says "${reason}", which ${verdict === undefined ? 'is no row' : 'passed'}`]
        : [];
    });
    const shares = [...reason.matchAll(/\b(\d+) of (\d+)\b/g)];
    const numbers = shares.some(([, part, whole]) => Number(part) > Number(whole))
      ? [`${id} says "${reason}", which is more than all`]
      : notShown.map((number) => `${id} says "${reason}", but nothing shows ${number}`);
    return [...blames, ...numbers];
  });
}

/** @param checkable the requirements that must be seen red: each has a row */
export function matrixOf(entries: readonly Entry[], checkable: readonly string[]): Matrix {
  const faults = entries.filter((entry) => entry.case.kind === 'fault');
  const conforming = entries
    .filter((entry) => entry.case.kind === 'variant')
    .sort((a, b) => title(a.case).localeCompare(title(b.case)));
  const rows = checkable.map((requirement) => ({
    requirement,
    kills: faults
      .filter((entry) => entry.case.breaks === requirement)
      .map(({ case: accuracyCase, result }) => ({
        fault: title(accuracyCase),
        found: failed(result).includes(requirement),
        collateral: failed(result).filter((id) => id !== requirement),
      }))
      .sort((a, b) => a.fault.localeCompare(b.fault)),
  }));
  const problems: string[] = [];
  for (const { case: accuracyCase, result } of faults) {
    const { breaks } = accuracyCase;
    if (failed(result).includes(breaks ?? '')) continue;
    const instead = failed(result);
    problems.push(
      `fault ${title(accuracyCase)}: ${breaks} did not fail${instead.length === 0 ? '' : `, but ${instead.join(', ')}`}${result.problem === undefined ? '' : `: ${result.problem}`}`,
    );
  }
  for (const { case: accuracyCase, result } of conforming) {
    for (const { id, reason } of result.verdicts.filter(({ verdict }) => verdict === 'fail'))
      problems.push(`variant ${title(accuracyCase)}: ${id} failed: ${reason}`);
    for (const what of open(result)) problems.push(`variant ${title(accuracyCase)}: inconclusive: ${what}`);
    if (result.problem !== undefined) problems.push(`variant ${title(accuracyCase)}: ${result.problem}`);
  }
  for (const { case: accuracyCase, result } of entries)
    for (const what of untrue(result))
      problems.push(`${accuracyCase.kind} ${title(accuracyCase)}: not true: ${what}`);
  const withoutKill = rows
    .filter(({ kills }) => !kills.some(({ found }) => found))
    .map(({ requirement }) => requirement);
  for (const id of withoutKill) problems.push(`requirement ${id} was never seen red`);
  if (conforming.length === 0)
    problems.push('no conforming server was judged: nothing is known of false alarms');
  return {
    faults: faults.length,
    found: rows.flatMap(({ kills }) => kills).filter(({ found }) => found).length,
    variants: conforming.length,
    falseAlarms: conforming.filter(({ result }) => failed(result).length > 0).length,
    withoutKill,
    rows,
    conforming,
    problems,
  };
}

/** The matrix as Markdown, the same for the same verdicts. */
export function matrixText(matrix: Matrix): string {
  const lines = [
    '# What the suite finds, and that it never cries wolf',
    '',
    `Written by \`npm run accuracy -- --write\`. ${matrix.found} of ${matrix.faults} single faults found by the requirement that they break; ${matrix.falseAlarms} false alarms on ${matrix.variants} conforming servers.`,
    '',
    'A fault may break more than one statement of the document at once: what else failed with it is in brackets. Services of Express, Fastify, Go and FastAPI bear the name of their limiter; the rest is the reference server.',
    '',
    '| Requirement | Faults found by it |',
    '|---|---|',
    ...matrix.rows.map(
      ({ requirement, kills }) =>
        `| ${requirement} | ${kills.map(({ fault, found, collateral }) => `${found ? '' : '**missed:** '}${fault}${collateral.length === 0 ? '' : ` (${collateral.join(', ')})`}`).join('; ')} |`,
    ),
    '',
    '| Conforming server | Failures |',
    '|---|---|',
    ...matrix.conforming.map(
      ({ case: accuracyCase, result }) => `| ${title(accuracyCase)} | ${failed(result).join(', ') || '0'} |`,
    ),
    '',
  ];
  return lines.join('\n');
}
