import type { CheckedTarget, CheckRequest } from '../checks/check-target.ts';
import type { GapAnswer } from '../checks/run/check.ts';
import type { Finding } from '../checks/run/findings.ts';
import type { Reason } from '../checks/run/reason.ts';
import { wayOf } from '../checks/wire/access.ts';
import { curl, shellWord } from '../checks/wire/curl.ts';
import type { Exchange } from '../checks/wire/exchange.ts';
import { everyRow, type Gap, gaps, keepsPinned, type Requirement } from '../spec/contract.ts';
import { HARNESS_VERSION } from '../spec/harness-version.ts';
import { count } from './facts.ts';
import { sentence, sentenceOf } from './reasons.ts';
import { type GapResult, REPORT_FORMAT_VERSION, type Report, type RequirementResult } from './report.ts';
import { timelineOf } from './timeline.ts';
import { type Gate, gated, isComplete, staleEntries, verdictOf } from './verdict.ts';

/** What is asked of a run beside its checks, and what ended it early. */
export interface Asked extends Gate, Pick<Report['run'], 'command' | 'resume' | 'profile' | 'interrupted'> {}

type Profile = CheckRequest['profile'];

/** Writes down what a run found out, or why there was nothing to judge: the target was not reached, or refused every key. */
export function reportOf(
  checked: CheckedTarget,
  request: Pick<CheckRequest, 'profile' | 'permissions' | 'only' | 'clock' | 'traffic' | 'access'>,
  { required, baseline, ...known }: Asked,
): Report {
  const { profile, permissions, only, clock, traffic, access } = request;
  const { nothingToJudge, trace, result, startedAt, endedAt, banned } = checked;
  const { requestsByKey } = trace;
  const { id, keys } = trace.run;
  const judged = everyRow().flatMap((requirement) => {
    const finding = result.requirements.get(requirement.id);
    return finding === undefined ? [] : [requirementRow(requirement, finding, profile)];
  });
  const rows = gated(judged, { required, baseline });
  const asked = nothingToJudge === undefined ? gaps : [];
  const gapRows = asked.flatMap((gap) => gapRow(gap, result.gaps.get(gap.id), profile.gaps[gap.id] ?? null));
  const problems = [nothingToJudge ?? [], staleEntries(rows, baseline)].flat();
  const found = [...result.requirements.values(), ...result.gaps.values()];
  const cited = found.flatMap((one) => ('evidence' in one ? one.evidence : []));
  const exchanges = new Map(cited.map((exchange) => [exchange.id, exchange]));
  // What other clients and the target speak is not known.
  const versions = (traffic === undefined ? trace.exchanges : []).flatMap(({ outcome }) =>
    outcome.kind === 'response' ? (outcome.httpVersion ?? '1.1') : [],
  );
  const skew = trace.targetClock.skew;
  return {
    formatVersion: REPORT_FORMAT_VERSION,
    run: {
      id,
      startedAt: new Date(startedAt).toISOString(),
      durationSeconds: (endedAt - startedAt) / 1000,
      harnessVersion: HARNESS_VERSION,
      target: profile.target,
      keys: keys.map(({ name, plan, roles }) => ({ name, plan, roles })),
      clockSpeed: profile.clock.speed,
      sharedClock: clock && true,
      traffic: traffic && true,
      // A success with the wrong status has added one too.
      animalsAdded: trace.readings.filter(
        ({ operation, status, intent }) =>
          operation === 'createPet' && status >= 200 && status < 300 && intent !== 'foreign',
      ).length,
      way: { ...wayOf(access), httpVersion: [...new Set(versions)].join(', ') || undefined },
      targetClockSkewMs: skew && Math.round(skew),
      ...{ permissions, only, ...known },
    },
    verdict: verdictOf(rows, gapRows, problems),
    complete: nothingToJudge === undefined && isComplete(rows),
    problems,
    requirements: rows,
    gaps: gapRows,
    requests: {
      total: [...requestsByKey.values()].reduce((sum, count) => sum + count, 0),
      byKey: Object.fromEntries(requestsByKey),
    },
    timeline: timelineOf(trace, banned, startedAt),
    exchanges: [...exchanges.values()].sort((a, b) => a.sentAt - b.sentAt).map(withShortBody),
  };
}

/** How many characters of a body a report holds; the journal beside it has all. */
const LONGEST_BODY = 64 * 1024;

function withShortBody(exchange: Exchange): Exchange {
  const { outcome } = exchange;
  if (outcome.kind !== 'response' || outcome.body.length <= LONGEST_BODY) return exchange;
  const body = outcome.body.slice(0, LONGEST_BODY);
  return { ...exchange, outcome: { bodyProblem: 'truncated-in-record', ...outcome, body } };
}

/** The row of a requirement. */
export function requirementRow(
  { id, section, level, title, statement, clause, reading, plan, permit }: Requirement,
  { verdict, reasons, violation, evidence }: Finding,
  profile: Profile,
): RequirementResult {
  const [decisive] = evidence;
  const [first] = reasons;
  const times = first?.kind === 'broken' && first.times > 1 ? ` (${count(first.times, 'time')})` : '';
  return {
    ...{ id, section, level, title, statement, reading, plan, permit, verdict },
    clause: clause || undefined,
    reason: violation === undefined ? sentence(reasons) : `${violation.actual}${times}`,
    why: reasons,
    ...violation,
    evidence: evidence.map((exchange) => exchange.id),
    curl: verdict === 'fail' && decisive !== undefined ? repeating(decisive, profile) : undefined,
  };
}

function gapRow(gap: Gap, found: GapAnswer | Reason | undefined, pinned: string | null): GapResult[] {
  const { id, section, question, unobservable } = gap;
  const row = { id, section, question, pinned };
  const unseen = { ...row, observed: null, evidence: [] };
  if (unobservable !== undefined) return [{ ...unseen, verdict: 'unobservable', detail: unobservable }];
  if (found === undefined) return [];
  if (!('answer' in found)) return [{ ...unseen, verdict: 'not-observed', detail: sentenceOf(found) }];
  const { answer, detail, evidence } = found;
  const verdict = pinned === null ? 'observed' : keepsPinned(gap, pinned, answer) ? 'kept' : 'drifted';
  return [{ ...row, observed: answer, verdict, detail, evidence: evidence.map((exchange) => exchange.id) }];
}

/** curl's options for what stands in front of a target. */
function accessInShell({ headers, tls }: Profile): string[] {
  const own = headers.map(({ name, value, env }) =>
    env === undefined ? shellWord(`${name}: ${value}`) : `"${name}: $${env}"`,
  );
  const files = Object.entries({ '--cacert': tls.ca, '--cert': tls.cert, '--key': tls.key });
  return [
    ...own.flatMap((header) => ['-H', header]),
    ...files.flatMap(([option, file]) => (file === undefined ? [] : [option, shellWord(file)])),
    ...(tls.passphraseEnv === undefined ? [] : ['--pass', `"$${tls.passphraseEnv}"`]),
    ...(tls.insecure ? ['--insecure'] : []),
  ];
}

/** The command that repeats an exchange; a wrong key it derives from the first of the profile's. */
function repeating(exchange: Exchange, profile: Profile): string {
  const { target, keys } = profile;
  const { env } = keys.find(({ name }) => name === exchange.key) ?? {};
  // Of traffic a key may be unknown: it is in nobody's variable yet.
  const variable = env ?? exchange.key?.toUpperCase().replaceAll('-', '_');
  return curl(exchange, target, variable, keys[0]?.env, accessInShell(profile));
}
