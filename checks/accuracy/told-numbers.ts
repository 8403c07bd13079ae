/** Numbers that a reason tells: what it quotes or counts has to be there in the run. */
import type { Trace } from '../run/trace.ts';

/** Worked out from what came, a date of the document's, or a status that did not come. */
const WORKED_OUT =
  /\d{4}-\d\d-\d\d(?:T[\d:.]+Z?)?|\d{1,2} [A-Z][a-z]+ \d{4}|\d[\d,]* (?:seconds|minutes|characters|times)|no [a-z ]+ with \d{3}/g;
const NUMBER = /\d+(?:,\d{3})*/g;
/** A status as a reason describes an answer. */
const STATUS = /\b[1-5]\d\d(?= (?:with an empty body|[a-z]+\/))/g;

const all = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([found]) => found);

/**
 * The numbers that no exchange of the run holds, that are no plan's limit and that count more than there are requests;
 * and the statuses with which nothing was answered.
 */
export function numbersNotShown(
  reason: string,
  { exchanges, readings, run }: Pick<Trace, 'exchanges' | 'readings' | 'run'>,
  requests: number,
): string[] {
  const limits = run.keys.flatMap(({ limits }) => Object.values(limits).map(String));
  const told = all(reason.replace(run.baseUrl, '').replace(WORKED_OUT, ''), NUMBER)
    .map((number) => number.replaceAll(',', ''))
    .filter((number) => Number(number) > requests && !limits.includes(number));
  const statuses = all(reason, STATUS).filter(
    (status) => !readings.some((reading) => String(reading.status) === status),
  );
  if (told.length === 0) return statuses;
  const shown = exchanges.map(({ request, outcome }) => JSON.stringify([request, outcome])).join('\n');
  return [...told.filter((number) => !shown.includes(number)), ...statuses];
}
