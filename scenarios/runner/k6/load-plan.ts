/** The plan that a k6 process reads beside its script. */
import type { LoadPlan, PlannedStream } from '../../lib/scenario.ts';
import type { LoadPart } from '../quota/divide.ts';
import type { LoadRequest, PreparedLoad } from '../quota/load-request.ts';

/** By default one body in this many is validated. */
const VALIDATE_EVERY = 100;

/** What differs between the processes of a load, or between this machine and a cluster. */
type OwnParts = Pick<LoadPlan, 'runId' | 'control' | 'samples' | 'options' | 'shards' | 'report'> & {
  readonly clock: Omit<LoadPlan['clock'], 'speed'>;
};

/** The plan of one part of a load. */
export function loadPlan(
  { facts, seconds, mix }: PreparedLoad,
  { target, validateEvery = VALIDATE_EVERY, lists = 'varied' }: LoadRequest,
  part: LoadPart,
  { clock, samples, ...own }: OwnParts,
): LoadPlan {
  const { categoryId = samples.categoryId } = target;
  return {
    ...own,
    scenario: facts.name,
    target: target.address,
    keys: target.keys.map(({ name, plan, env, perMinute, perDay }) => ({
      name,
      plan,
      env,
      perMinute,
      perDay,
    })),
    streams: plannedStreams(part),
    mix,
    validateEvery,
    lists,
    clock: { ...clock, speed: target.clockSpeed },
    seconds,
    samples: { ...samples, categoryId: String(categoryId) },
  };
}

function plannedStreams({ rate, streams }: LoadPart): PlannedStream[] {
  return streams.map(({ stream, keys, schedule, requests = 0 }): PlannedStream => {
    const { name } = stream;
    if (stream.kind === 'clients')
      return { name, keys, schedule, expects429: stream.overLimit === true, cost: stream.cost };
    if (stream.profile !== 'constant') return { name, keys, schedule, expects429: false };
    const paid = { requests, seconds: requests / rate };
    return { name, keys, schedule, expects429: false, constantRate: rate, paid };
  });
}
