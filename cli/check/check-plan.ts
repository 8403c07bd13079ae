import { type CheckRequest, checkTarget } from '../../checks/check-target.ts';
import { profileKeys } from '../../checks/profile/environment.ts';
import { UsageError } from '../../checks/profile/usage-error.ts';
import { sharedClock } from '../../checks/run/clock.ts';
import { billOf, type KeyBill, longestRun } from '../../checks/run/run-budget.ts';
import { exhaustKeys } from '../../checks/sections/quota/minute.ts';
import { startReferenceServer } from '../../reference-server/reference-server.ts';
import { count, duration } from '../../reports/facts.ts';
import { sentenceOf } from '../../reports/reasons.ts';
import { groupBy } from '../../spec/group-by.ts';
import { ADDED_ANIMALS } from '../../spec/operations.ts';
import type { Permission } from '../../spec/permissions.ts';
import { textTable, wrap } from '../../spec/text-table.ts';
import { unsentValues } from '../shared/profile-file.ts';
import { columnsOf } from '../shared/screen.ts';
import type { CheckSubject } from './check-subject.ts';

/** A larger minute of a custom plan is played with so many requests, and the rest is added. */
const LARGEST_MINUTE = 1000;
/** No custom day is spent by a play. */
const LONG_DAY = 1_000_000;

/**
 * Plans a run by playing it against the embedded server, with keys like the profile's and an empty store, where the most
 * animals are needed. Nothing is sent to the target. Days are not played, but counted by their plans' numbers.
 *
 * @throws UsageError if no key is for checks
 */
export async function planCheck(subject: Pick<CheckRequest, 'profile' | 'permissions' | 'only' | 'rules'>) {
  const { profile, permissions, only, rules } = subject;
  const values = unsentValues(profile);
  const keys = profileKeys(profile, values);
  if (keys.length === 0)
    throw new UsageError('every key has the role load alone; add one with the role functional for a check');
  const clock = sharedClock();
  const custom = profile.plans.enterprise ?? { perMinute: 1, perDay: LONG_DAY };
  const perMinute = Math.min(custom.perMinute, LARGEST_MINUTE);
  // What the run does not send where the day holds no more than a minute, the play does not either.
  const perDay = custom.perDay > custom.perMinute ? LONG_DAY : perMinute;
  const server = await startReferenceServer({
    clock,
    animals: 0,
    keys: keys.map(({ name, plan, value }) => ({ name, plan, value })),
    enterprise: { perMinute, perDay: LONG_DAY },
  });
  try {
    const played: Permission[] = permissions.filter((permission) => permission !== 'day');
    const startedAt = clock.now();
    const checked = await checkTarget({
      profile: {
        ...profile,
        target: server.baseUrl,
        plans: { enterprise: { perMinute, perDay } },
        clock: { speed: 1 },
        samples: {},
      },
      ...{ values, clock, permissions: played, only, rules },
    });
    if (checked.nothingToJudge !== undefined)
      throw new Error(`the plan could not be made: ${checked.nothingToJudge}`);
    const rows = [...checked.result.requirements];
    const needsDays = rows.some(([, { reasons }]) =>
      reasons.some((reason) => reason.kind === 'not-permitted' && reason.permission === 'day'),
    );
    const days = permissions.includes('day') && needsDays ? exhaustKeys(keys) : [];
    const bill = billOf({
      trace: checked.trace,
      took: clock.now() - startedAt,
      keys,
      days,
      waitsForBan: checked.banned.size > 0,
    });
    const asked = rows.filter(
      ([, { verdict, reasons }]) => verdict !== 'not-applicable' && reasons[0]?.kind !== 'left-out',
    );
    const skipped = asked.flatMap(([id, { verdict, reasons }]) => {
      const [reason] = reasons;
      if (verdict !== 'skipped' || reason === undefined) return [];
      const isOfDay = reason.kind === 'not-permitted' && permissions.includes(reason.permission);
      return isOfDay ? [] : [[id, reason] as const];
    });
    return {
      checks: asked.length,
      bill,
      /** The requirements that are skipped, and why: no key, no permission. */
      skipped,
      /** What was exchanged in the dry play, without the uniform ones of a burst. */
      exchanges: checked.trace.exchanges,
    };
  } finally {
    await server.close();
  }
}

/** A run as it is planned: its bill, and what it leaves out. */
type CheckPlan = Awaited<ReturnType<typeof planCheck>>;

/** What a run costs nobody may take as long as its days, in real milliseconds. */
const UNPAID = { longest: 60 * 60_000, mostRequests: Number.POSITIVE_INFINITY };

/**
 * How many real milliseconds and requests a run may take by its bill. A run against the embedded server, or one that is
 * judged again, has none.
 *
 * @throws UsageError if the quotas of a day cannot pay for the run
 */
export async function limitsOf(subject: CheckSubject): Promise<typeof UNPAID> {
  const { embedded, offline, resume, profile } = subject;
  if (embedded || offline === true) return UNPAID;
  const plan = await planCheck(subject);
  if (resume === undefined) refuseUnpayable(plan);
  return { longest: longestRun(plan.bill, profile.clock.speed), mostRequests: plan.bill.mostRequests };
}

/** @throws UsageError if the quotas of a day cannot pay for the run */
export function refuseUnpayable({ bill: { unpayable } }: CheckPlan): void {
  if (unpayable[0] === undefined) return;
  throw new UsageError(
    `the day’s quota cannot pay for this run: ${unpayable[0]}; give the role functional to more keys, or use --only`,
  );
}

/**
 * The bill of a run for a person: what the run spends, how long it takes, and what it cannot verify.
 *
 * @param timeLimit real milliseconds that the run may take, where that was asked for
 */
export function renderBill(
  { checks, bill, skipped }: CheckPlan,
  { profile, permissions, embedded }: CheckSubject,
  timeLimit: number | undefined,
): string {
  const rows = [
    ['KEY', 'PLAN', 'SENDS', 'OF ITS MINUTE', 'OF ITS DAY', '429S'],
    ...bill.keys.map(keyRow),
    ['(no key)', '', bill.anonymous.toLocaleString('en'), '', '', ''],
  ];
  const ban = bill.waitsForBan ? '; and the ban, as long as the target chooses' : '';
  const { speed } = profile.clock;
  const fast = speed === 1 ? '' : ` by the target’s clock, which runs ${speed} times as fast`;
  const byClock = embedded ? ' by a simulated clock, which skips the time in which all wait' : fast;
  const longest = timeLimit ?? (embedded ? UNPAID.longest : longestRun(bill, speed));
  const resumed = embedded ? '' : '; --resume continues it, for as much again at most';
  const columns = columnsOf(process.stdout);
  const paid = `${bill.requests.toLocaleString('en')} if nothing looks wrong, ${bill.mostRequests.toLocaleString('en')} at most`;
  const added = `${bill.animals} if nothing looks wrong, ${bill.mostAnimals} at most; ${ADDED_ANIMALS}`;
  const limit = `${duration(Math.round(longest / 1000))}${byClock === '' ? '' : ' of real time'}`;
  const facts = [
    ['Requests', paid],
    ['Animals', bill.mostAnimals === 0 ? 'none is added' : added],
    ['Time', `about ${duration(Math.max(1, Math.round(bill.time / 1000)))}${byClock}${ban}`],
    ['At most', `${limit}: then the run ends with what it has${resumed}`],
    ...[...groupBy(skipped, ([, reason]) => sentenceOf(reason))].map(([reason, group]) => [
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
