/** The measured minutes of all keys, as the checks of section 8 look at them. */
import { type Judge, Unsettled } from '../../run/check.ts';
import type { Probe } from '../../run/probe.ts';
import type { AnsweredExchange, Exchange } from '../../wire/exchange.ts';
import { type MinuteMeasurement, minuteScenes } from './scenes.ts';
import { tellsDay } from './told-time.ts';
import type { FilledWindow } from './window-filling.ts';

/** The measurements of all keys that could be made; throws where none could. */
export async function measurements(probe: Probe): Promise<MinuteMeasurement[]> {
  const scenes = minuteScenes(probe);
  if (scenes.length === 0) throw new Unsettled('no usable key has the role exhaust');
  const played = await Promise.allSettled(scenes.map(({ scene }) => probe.play(scene)));
  const made = played.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  const failed = played.find((result) => result.status === 'rejected');
  if (made.length === 0 && failed !== undefined) throw failed.reason;
  return made;
}

/** Runs a judgement for every key's measurement. */
export function forEveryKey(judgeOne: (measurement: MinuteMeasurement, judge: Judge) => void) {
  return async (probe: Probe, judge: Judge) => {
    for (const measurement of await measurements(probe)) judgeOne(measurement, judge);
  };
}

/** Whether a key may be driven beyond its limit. */
export const mayBan = (probe: Probe) =>
  probe.permits('ban') && probe.keys.some(({ roles }) => roles.includes('ban'));

export const evidenceOf = (window: FilledWindow): Exchange[] =>
  [window.refusal, window.last].filter((exchange) => exchange !== undefined);

export const first = ({ windows }: MinuteMeasurement): FilledWindow | undefined => windows[0];

/** Whether somebody else spent a part of what the target admitted. */
const othersSpent = ({ count: { verdict } }: FilledWindow) =>
  verdict.kind === 'fewer' && verdict.before + verdict.between > 0;

export const disturbed = ({ windows, next }: MinuteMeasurement) => [...windows, ...next].some(othersSpent);

/** Why a refusal after the wait for the minute shows nothing of the minute; undefined where it does. */
export function refusedOtherwise(
  measurement: MinuteMeasurement,
  { exchange }: { readonly exchange: AnsweredExchange },
): string | undefined {
  const { name, limits } = measurement.key;
  if ([401, 403].includes(exchange.outcome.status))
    return `key ${name} seems to be banned (see ban-spares-polite)`;
  if (disturbed(measurement)) return `somebody else seems to spend key ${name}`;
  // A key that is refused before its minute's limit may have none left of its day, which headers need not tell.
  return tellsDay(exchange, limits) || first(measurement)?.count.verdict.kind === 'fewer'
    ? `the day of key ${name} may be over`
    : undefined;
}
