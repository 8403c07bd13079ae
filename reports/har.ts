import type { Entry, Har, Header, Response } from 'har-format';
import { type Exchange, type HeaderList, header } from '../checks/wire/exchange.ts';
import { groupBy } from '../spec/group-by.ts';
import { outcome, runProblems } from './outcome.ts';
import type { Report } from './report.ts';

/** The harness speaks this version only. */
const HTTP_VERSION = 'HTTP/1.1';

/** HAR 1.2: every exchange of a report in the order of sending. The comment names what an exchange breaks. */
export function renderHar(report: Report): string {
  const { run, requirements, exchanges } = report;
  const broken = groupBy(
    requirements.flatMap(({ id, verdict, evidence }) =>
      verdict === 'fail' ? evidence.map((exchange) => ({ id, exchange })) : [],
    ),
    ({ exchange }) => exchange,
  );
  const har: Har = {
    log: {
      version: '1.2',
      creator: { name: 'petstore-harness', version: run.harnessVersion },
      comment: [outcome(report).headline, ...runProblems(report)].join('\n'),
      entries: [...exchanges]
        .sort((a, b) => a.sentAt - b.sentAt)
        .map((exchange) => {
          const ids = broken.get(exchange.id)?.map(({ id }) => id);
          const breaks = ids === undefined ? '' : `, breaks ${ids.join(', ')}`;
          return { ...entryOf(exchange, run.target), comment: `${exchange.id}${breaks}` };
        }),
    },
  };
  return `${withoutUnseen(JSON.stringify(har, null, 1))}\n`;
}

function entryOf({ sentAt, receivedAt, request, outcome }: Exchange, target: string): Entry {
  const { method, path, headers, body } = request;
  const time = receivedAt - sentAt;
  const [, query = ''] = /\?(.*)/s.exec(path) ?? [];
  return {
    startedDateTime: new Date(sentAt).toISOString(),
    time,
    request: {
      method,
      url: target + path,
      httpVersion: HTTP_VERSION,
      cookies: [],
      headers: fields(headers),
      queryString: [...new URLSearchParams(query)].map(([name, value]) => ({ name, value })),
      ...(body === undefined
        ? {}
        : { postData: { mimeType: header(headers, 'content-type') ?? '', text: body } }),
      headersSize: -1,
      bodySize: Buffer.byteLength(body ?? ''),
    },
    response: responseOf(outcome),
    cache: {},
    timings: { send: 0, wait: time, receive: 0 },
  };
}

/** Without an answer the status is 0, as in the exports of browsers. */
function responseOf(outcome: Exchange['outcome']): Response {
  const shown = { statusText: '', cookies: [], headersSize: -1, bodySize: -1 };
  if (outcome.kind === 'failure') {
    const content = { size: 0, mimeType: 'x-unknown' };
    const nothing = { ...shown, status: 0, httpVersion: '', headers: [], redirectURL: '', content };
    return { ...nothing, comment: outcome.message };
  }
  const { status, headers, body, bodyBytes } = outcome;
  return {
    ...shown,
    status,
    httpVersion: HTTP_VERSION,
    headers: fields(headers),
    redirectURL: header(headers, 'location') ?? '',
    content: { size: bodyBytes, mimeType: header(headers, 'content-type') ?? 'x-unknown', text: body },
  };
}

const fields = (list: HeaderList): Header[] => list.map(([name, value]) => ({ name, value }));

/** The same JSON with invisible characters as escapes, so that they cannot act on a terminal or mislead a reader. */
const withoutUnseen = (json: string) =>
  json.replace(/(?!\n)[\p{Cc}\p{Cf}\p{Co}\p{Zl}\p{Zp}\p{Noncharacter_Code_Point}]/gu, (character) =>
    character
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );
