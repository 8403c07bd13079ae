/** Numbers, times and the facts of a run as every format writes them. */
import type { Way } from '../checks/wire/exchange-shape.ts';
import { ADDED_ANIMALS } from '../spec/operations.ts';
import type { Report, RunFacts } from './report.ts';

/** `1 request`, `2 requests`, `1,859 requests`. */
export function count(number: number, noun: string): string {
  return `${grouped(number)} ${noun}${number === 1 ? '' : 's'}`;
}

export const grouped = (number: number): string => number.toLocaleString('en');

/** `1 min 59 s`; tenths below ten seconds. */
export function duration(seconds: number): string {
  if (seconds < 10) return `${Number(seconds.toFixed(1))} s`;
  const whole = Math.round(seconds);
  const parts = { h: Math.floor(whole / 3600), min: Math.floor((whole % 3600) / 60), s: whole % 60 };
  const told = Object.entries(parts).filter(([, number]) => number > 0);
  return told.map(([unit, number]) => `${number} ${unit}`).join(' ');
}

/** `0:05`, `1:30`, `2:00:00`. */
export function clock(seconds: number): string {
  const two = (number: number) => String(number).padStart(2, '0');
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)];
  const rest = two(seconds % 60);
  return hours > 0 ? `${hours}:${two(minutes)}:${rest}` : `${minutes}:${rest}`;
}

/** `12 ms`, `1.8 ms`, `12.0 s`. */
export function milliseconds(value: number): string {
  if (value >= 10_000) return `${(value / 1000).toFixed(1)} s`;
  return `${value >= 100 ? grouped(Math.round(value)) : Number(value.toPrecision(2))} ms`;
}

/** `2026-11-21 12:00:04 UTC`. */
export const moment = (iso: string): string => iso.replace('T', ' ').replace(/(\.\d+)?Z$/, ' UTC');

/** Facts of a run or a case by their labels. One without a text is left out. */
export type Facts = Readonly<Record<string, string | undefined>>;

/** The facts that have a text. */
export const toldFacts = (facts: Facts): (readonly [label: string, text: string])[] =>
  Object.entries(facts).flatMap(([label, text]) => (text === undefined ? [] : [[label, text] as const]));

/** What every format says of a check in addition to its verdict. */
export function runFacts({ run, requests, timeline }: Report): Facts {
  const spent = (name: string) => grouped(requests.byKey[name] ?? 0);
  const keys = run.keys.map(({ name, plan }) => `${name} (${plan}, ${spent(name)})`);
  const anonymous = requests.byKey['(none)'] === undefined ? [] : [`no valid key (${spent('(none)')})`];
  const isLost = timeline.some(({ operation, status }) => operation === 'createPet' && status === 0);
  const perhaps = isLost ? '; an addition without an answer may be there too' : '';
  const added =
    run.animalsAdded === 0
      ? 'no animal added'
      : `${count(run.animalsAdded, 'animal')} added (${ADDED_ANIMALS})`;
  return {
    Target: run.target,
    ...howRun(run),
    Permissions: run.permissions.join(', ') || 'none (reading only)',
    Cost:
      run.traffic === true ? 'nothing was sent' : `${count(requests.total, 'request')}, ${added}${perhaps}`,
    Keys: [...keys, ...anonymous].join(', ') || 'none',
    Only: run.only?.join(', '),
    'Ended early': run.interrupted,
    Run: `${run.id}, petstore-harness ${run.harnessVersion}`,
    Command: run.command,
  };
}

/** When something ran, how it reached its target, and by which clock where that is not real time. */
export const howRun = (run: Pick<RunFacts, 'startedAt' | 'durationSeconds'> & Partial<RunFacts>): Facts => ({
  When: `${moment(run.startedAt)}, for ${duration(run.durationSeconds)}`,
  Way: wayTo(run.way),
  Clock: simulatedClock(run),
});

/** How the target was reached; undefined where nothing is known of it. */
export function wayTo({ httpVersion, proxy, insecure }: Way = {}): string | undefined {
  const version = httpVersion && `HTTP/${httpVersion}`;
  const known = [version, proxy && `through the proxy ${proxy}`, insecure && UNVERIFIED].filter(Boolean);
  return known.join(', ') || undefined;
}

const UNVERIFIED = 'the certificate was not verified (tls.insecure)';

/** What every output says of a run of which nobody knows who answered. */
export const wayNotices = ({ insecure }: Way = {}): string[] => (insecure === true ? [UNVERIFIED] : []);

/** Describes a simulated clock; undefined in real time. */
export function simulatedClock({ clockSpeed = 1, sharedClock }: Partial<RunFacts>): string | undefined {
  if (sharedClock === true) return 'simulated: time in which both run and target were waiting was skipped';
  return clockSpeed === 1 ? undefined : `simulated: ${grouped(clockSpeed)} times as fast as real time`;
}
