import type { KeyBill } from '../../checks/run/plan.ts';
import { duration } from '../../reports/facts.ts';
import { count } from '../../reports/outcome.ts';
import { groupBy } from '../../spec/group-by.ts';
import { textTable } from '../../spec/text-table.ts';
import { type CheckPlan, requestsOf } from './check-plan.ts';
import type { CheckSubject } from './check-subject.ts';

/**
 * The bill of a run for a person: what the run spends, how long it takes, and what it cannot verify.
 *
 * @param timeLimit real milliseconds that the run may take
 */
export function renderBill(
  { checks, bill, skipped }: CheckPlan,
  { profile, permissions }: CheckSubject,
  timeLimit: number,
): string {
  const rows = [
    ['KEY', 'PLAN', 'REQUESTS', 'OF ITS MINUTE', 'OF ITS DAY', '429S'],
    ...bill.keys.map(keyRow),
    ['(no key)', '', bill.anonymous.toLocaleString('en'), '', '', ''],
  ];
  const ban = bill.waitsForBan ? ', and the length of the ban, which is the target’s choice' : '';
  const speed =
    profile.clock.speed === 1
      ? ''
      : ` by the target’s clock, which runs ${profile.clock.speed} times as fast`;
  const lines = [
    `${count(checks, 'check')} of ${profile.target}, permitted ${permissions.join(', ') || 'nothing but reading'}:`,
    '',
    ...textTable(rows, 2, '  '),
    '',
    `  Requests     ${requestsOf(bill).toLocaleString('en')} at most, if the target counts exactly, no answer is lost and nobody else uses the keys`,
    `  Animals      ${bill.animals === 0 ? 'none is added' : `${bill.animals} are added at most, plus one for each lost answer; they stay`}`,
    `  Longest wait ${duration(bill.longestWait / 1000)}${ban}`,
    `  Time         about ${duration(Math.max(1, Math.round(bill.total / 1000)))}${ban === '' ? '' : ', and the ban'}${speed}`,
    `  At most      ${duration(Math.round(timeLimit / 1000))}${speed === '' ? '' : ' of real time'}: then the run ends with what it has; --resume continues it`,
    ...notVerified(skipped),
    ...(bill.unpayable.length === 0 ? [] : ['', ...bill.unpayable.map((reason) => `  ✘ refused: ${reason}`)]),
  ];
  return `${lines.join('\n')}\n`;
}

function keyRow({ key, requests, refusals, refusalsAtMost, exhausted }: KeyBill): string[] {
  const { perMinute, perDay } = key.limits;
  const minute = exhausted
    ? `all of ${perMinute.toLocaleString('en')}`
    : share(Math.min(requests, perMinute), perMinute);
  const number = requests.toLocaleString('en');
  return [
    key.name,
    key.plan,
    number,
    minute,
    share(Math.min(requests, perDay), perDay),
    refusalsAtMost ? `up to ${refusals}` : `${refusals}`,
  ];
}

function share(part: number, whole: number): string {
  return `${Math.ceil((100 * part) / whole)} % of ${whole.toLocaleString('en')}`;
}

function notVerified(skipped: ReadonlyMap<string, string>): string[] {
  if (skipped.size === 0) return ['  Not verified nothing is left out for lack of a key or a permission'];
  const byReason = groupBy([...skipped], ([, reason]) => reason);
  const lines = [...byReason].map(
    ([reason, group]) => `  ? ${reason}: ${group.map(([id]) => id).join(', ')}`,
  );
  return ['', `  ${count(skipped.size, 'requirement')} will be skipped:`, ...lines];
}
