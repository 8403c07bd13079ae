import { type GapObserver, gap } from '../../run/check.ts';
import { header, isAnswered } from '../../wire/exchange.ts';

export const authenticationGaps: readonly GapObserver[] = [
  gap('authentication-challenge', {}, (_, { exchanges }) => {
    const refusal = exchanges
      .filter(isAnswered)
      .find(({ outcome, key }) => outcome.status === 401 && key === null);
    if (refusal === undefined) return undefined;
    const challenge = header(refusal.outcome.headers, 'www-authenticate');
    const scheme = /[^\s,]+/.exec(challenge ?? '')?.[0].toLowerCase();
    return {
      answer: scheme ?? 'none',
      detail: challenge === undefined ? 'a 401 has no WWW-Authenticate' : `WWW-Authenticate: ${challenge}`,
      evidence: [refusal],
    };
  }),
];
