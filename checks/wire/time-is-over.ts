/** The reason with which a run is ended whose time is over; its message is the reason of all that stays open. */
export class TimeIsOver extends Error {
  override readonly name = 'TimeIsOver';

  /** @param limit real milliseconds */
  constructor(limit: number) {
    super(`the run’s time limit, ${Number((limit / 1000).toFixed(2))} s, was over`);
  }
}

/** Why a run was ended, in the words of the rows that it leaves open. */
export const whyEnded = (signal?: AbortSignal): string =>
  signal?.reason instanceof TimeIsOver ? signal.reason.message : 'interrupted';
