import type { KeyBill } from '../../checks/run/bill.ts';
import type { Reason } from '../../checks/run/reason.ts';
import { count, duration } from '../../reports/facts.ts';
import { sentenceOf } from '../../reports/reasons.ts';
import { groupBy } from '../../spec/group-by.ts';
import { textTable } from '../../spec/text-table.ts';
import type { CheckPlan } from './check-plan.ts';
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
  const ban = bill.waitsForBan ? '; and the ban, as long as the target chooses' : '';
  const speed =
    profile.clock.speed === 1
      ? ''
      : ` by the target’s clock, which runs ${profile.clock.speed} times as fast`;
  const lines = [
    `${count(checks, 'check')} of ${profile.target}, permitted ${permissions.join(', ') || 'nothing but reading'}:`,
    '',
    ...textTable(rows, { left: 2, indent: '  ' }),
    '',
    `  Requests     ${bill.requests.toLocaleString('en')} if nothing looks wrong, ${bill.mostRequests.toLocaleString('en')} at most`,
    `  Animals      ${bill.animals === 0 ? 'none is added' : `${bill.animals} if nothing looks wrong, ${bill.mostAnimals} at most; they stay`}`,
    `  Time         about ${duration(Math.max(1, Math.round(bill.time / 1000)))}${speed}${ban}`,
    `  At most      ${duration(Math.round(timeLimit / 1000))}${speed === '' ? '' : ' of real time'}: then the run ends with what it has; --resume continues it`,
    ...notVerified(skipped),
    ...(bill.unpayable.length === 0 ? [] : ['', ...bill.unpayable.map((reason) => `  ✘ refused: ${reason}`)]),
  ];
  return `${lines.join('\n')}\n`;
}

function keyRow({ key, requests, refusals, exhausted }: KeyBill): string[] {
  const { perMinute, perDay } = key.limits;
  const minute = exhausted
    ? `all of ${perMinute.toLocaleString('en')}`
    : share(Math.min(requests, perMinute), perMinute);
  const number = requests.toLocaleString('en');
  return [key.name, key.plan, number, minute, share(Math.min(requests, perDay), perDay), `${refusals}`];
}

function share(part: number, whole: number): string {
  return `${Math.ceil((100 * part) / whole)} % of ${whole.toLocaleString('en')}`;
}

function notVerified(skipped: ReadonlyMap<string, Reason>): string[] {
  if (skipped.size === 0) return ['  Not verified nothing is left out for lack of a key or a permission'];
  const byReason = groupBy([...skipped], ([, reason]) => sentenceOf(reason));
  const lines = [...byReason].map(
    ([reason, group]) => `  ? ${reason}: ${group.map(([id]) => id).join(', ')}`,
  );
  return ['', `  ${count(skipped.size, 'requirement')} will be skipped:`, ...lines];
}
