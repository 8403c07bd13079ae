import type { Exchange } from '../checks/wire/exchange.ts';
import { clip } from './visible-text.ts';

/** The other header fields are in report.json. */
const MOST_HEADERS = 30;

/**
 * An exchange as plain text: what was sent, what came back.
 *
 * @param mostOfBody how many characters of each body are shown
 */
export function exchangeText({ request, outcome }: Exchange, mostOfBody = 800): string {
  const body = (text: string) => (text === '' ? [] : ['', clip(text, mostOfBody)]);
  const sent = [`${clip(request.method, 20)} ${clip(request.path, 400)}`, ...body(request.body ?? '')];
  const came =
    outcome.kind === 'failure'
      ? [`No answer: ${clip(outcome.message, 200)}`]
      : [
          `HTTP ${outcome.status}`,
          ...outcome.headers
            .slice(0, MOST_HEADERS)
            .map(([name, value]) => `${clip(name, 80)}: ${clip(value, 200)}`),
          ...body(outcome.body),
        ];
  return [...sent, '', ...came].join('\n');
}
