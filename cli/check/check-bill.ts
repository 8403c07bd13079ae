import type { KeyBill } from '../../checks/run/bill.ts';
import { count, duration } from '../../reports/facts.ts';
import { sentenceOf } from '../../reports/reasons.ts';
import { groupBy } from '../../spec/group-by.ts';
import { ADDED_ANIMALS } from '../../spec/operations.ts';
import { textTable, wrap } from '../../spec/text-table.ts';
import { columnsOf } from '../shared/screen.ts';
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
    ['KEY', 'PLAN', 'SENDS', 'OF ITS MINUTE', 'OF ITS DAY', '429S'],
    ...bill.keys.map(keyRow),
    ['(no key)', '', bill.anonymous.toLocaleString('en'), '', '', ''],
  ];
  const ban = bill.waitsForBan ? '; and the ban, as long as the target chooses' : '';
  const speed =
    profile.clock.speed === 1
      ? ''
      : ` by the target’s clock, which runs ${profile.clock.speed} times as fast`;
  const columns = columnsOf(process.stdout);
  const paid = `${bill.requests.toLocaleString('en')} if nothing looks wrong, ${bill.mostRequests.toLocaleString('en')} at most`;
  const added = `${bill.animals} if nothing looks wrong, ${bill.mostAnimals} at most; ${ADDED_ANIMALS}`;
  const limit = `${duration(Math.round(timeLimit / 1000))}${speed === '' ? '' : ' of real time'}`;
  const facts = [
    ['Requests', paid],
    ['Animals', bill.mostAnimals === 0 ? 'none is added' : added],
    ['Time', `about ${duration(Math.max(1, Math.round(bill.time / 1000)))}${speed}${ban}`],
    [
      'At most',
      `${limit}: then the run ends with what it has; --resume continues it, for as much again at most`,
    ],
    ...[...groupBy([...skipped], ([, reason]) => sentenceOf(reason))].map(([reason, group]) => [
      'Skipped',
      `${count(group.length, 'requirement')}, ${reason}: ${group.map(([id]) => id).join(', ')}`,
    ]),
    ...bill.unpayable.map((why) => ['✘ Refused', why]),
  ];
  const permitted = permissions.join(', ') || 'nothing but reading';
  const lines = [
    ...wrap(`${count(checks, 'check')} of ${profile.target}, permitted ${permitted}:`, { columns }, ''),
    '',
    ...textTable(rows, { left: 2, indent: '  ', columns }),
    '',
    ...textTable(facts, { indent: '  ', columns }),
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
