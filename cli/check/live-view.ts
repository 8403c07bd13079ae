import type { Clock } from '../../checks/run/clock.ts';
import type { RunEvent } from '../../checks/run/run-events.ts';
import { allChecks } from '../../checks/sections/all-checks.ts';
import { clock as clockText, count, grouped } from '../../reports/facts.ts';
import { paintIn } from '../../reports/terminal.ts';
import { shownLine } from '../../reports/visible-text.ts';
import { requirement } from '../../spec/contract.ts';
import { liveLines } from '../shared/live-lines.ts';
import { wantsColour } from '../shared/screen.ts';
import type { CheckSubject } from './check-subject.ts';

/**
 * Shows a run under way: what it does, waits for and has spent, and each failure as it is found. Most rows are decided at
 * its end: requests tell more.
 */
export function liveView(
  stream: NodeJS.WriteStream,
  clock: Clock,
  subject: Pick<CheckSubject, 'clock' | 'only' | 'rules' | 'traffic' | 'mostRequests'>,
) {
  /** What the run waits for, and until when. */
  const waits = new Map<string, number>();
  let scene = 'nothing sent yet';
  let [sent, ended, failed] = [0, 0, 0];
  const { only, rules = [], traffic, mostRequests = Number.POSITIVE_INFINITY } = subject;
  const checks = (only ?? [...allChecks, ...rules]).length;
  const most = Number.isFinite(mostRequests) ? ` of at most ${grouped(mostRequests)}` : '';
  const how = subject.clock !== undefined || clock.speed !== 1 ? ' (simulated clock)' : '';
  const left = (until: number) => clockText(Math.max(0, Math.ceil((until - clock.now()) / 1000)));
  const lines = () => {
    const broken = failed === 0 ? '' : `, ${failed} broken`;
    const under = traffic ? 'watching' : `${scene} · ${ended} of ${count(checks, 'check')}`;
    return [
      `▸ ${under}${broken}, ${count(sent, 'request')}${most}${how}`,
      ...[...waits]
        .sort(([, a], [, b]) => a - b)
        .map(([what, until]) => `  ${left(until)} for ${shownLine(what, 120)}`),
    ];
  };
  const { note, end } = liveLines(stream, lines);
  const paint = paintIn(wantsColour(stream));
  const onEvent = (event: RunEvent) => {
    if (event.kind === 'waiting') waits.set(event.for, event.until);
    else if (event.kind === 'waited') waits.delete(event.for);
    else if (event.kind === 'exchange') {
      sent += 1;
      scene = event.exchange.sentBy;
    } else {
      const { id, verdict, violation } = event;
      ended += 1;
      if (verdict !== 'fail') return;
      failed += 1;
      // The requirement in words: an id alone says little to a new user.
      note(paint('red', `✘ ${id} (${requirement(id).title}): ${shownLine(violation?.actual ?? '', 300)}`));
    }
  };
  return { note, end, onEvent };
}
