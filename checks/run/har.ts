/** Reads a recording of HTTP traffic: HAR 1.2, as browsers, Playwright and mitmproxy write it. */
import { type Static, Type } from '@sinclair/typebox';
import { text } from '../../spec/json-schema.ts';
import type { Observed } from '../wire/observed.ts';
import { readJson, validated } from './stored-result.ts';

const headers = Type.Array(Type.Object({ name: text, value: text }));
const Entry = Type.Object({
  startedDateTime: text,
  time: Type.Number(),
  request: Type.Object({
    method: text,
    url: text,
    headers,
    postData: Type.Optional(Type.Object({ text: Type.Optional(text) })),
  }),
  response: Type.Object({
    status: Type.Number(),
    headers,
    content: Type.Object({ text: Type.Optional(text), encoding: Type.Optional(text) }),
  }),
  /** Chrome's: the answer is an earlier one. */
  _fromCache: Type.Optional(text),
});
const Har = Type.Object({ log: Type.Object({ entries: Type.Array(Entry) }) });

/**
 * What passed between clients and a target, as far as the file recorded it.
 *
 * @param baseUrl what lies elsewhere is left out
 * @throws UsageError with the place of what is no recording
 */
export function readHar(file: string, baseUrl: string): Observed[] {
  const har = readJson(file, 'give a recording of HTTP traffic', (written) =>
    validated(written, 'a HAR', Har),
  );
  return har.log.entries.flatMap((entry) => observedIn(entry, baseUrl) ?? []);
}

/** What an entry recorded; undefined where it is another server's, or no answer came, or none of its headers is there. */
function observedIn(
  { startedDateTime, time, request, response, _fromCache }: Static<typeof Entry>,
  baseUrl: string,
): Observed | undefined {
  const sentAt = Date.parse(startedDateTime);
  const { status, content } = response;
  const isRecorded = Number.isInteger(status) && status >= 200 && response.headers.length > 0;
  if (
    !request.url.startsWith(`${baseUrl}/`) ||
    Number.isNaN(sentAt) ||
    !isRecorded ||
    _fromCache !== undefined
  )
    return undefined;
  const { pathname, search } = new URL(request.url);
  const fields = (list: typeof response.headers) =>
    list.filter(({ name }) => !name.startsWith(':')).map(({ name, value }) => [name, value] as const);
  return {
    method: request.method,
    path: `${pathname}${search}`.slice(new URL(baseUrl).pathname.replace(/\/$/, '').length),
    headers: fields(request.headers),
    body: request.postData?.text ?? '',
    sentAt,
    receivedAt: sentAt + Math.max(0, time),
    mayLackKey: true,
    response: {
      kind: 'response',
      status,
      // The recorded text is decoded.
      headers: fields(response.headers).filter(([name]) => !/^content-encoding$/i.test(name)),
      bytes: Buffer.from(content.text ?? '', content.encoding === 'base64' ? 'base64' : 'utf8'),
    },
    ...(content.text === undefined ? { lacksBody: true as const } : {}),
  };
}
