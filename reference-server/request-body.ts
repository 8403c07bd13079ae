import type { IncomingMessage } from 'node:http';
import type { Call } from './design.ts';
import { badRequest, type Problem, problem } from './error-body.ts';

/** The largest request body that is read: 1 MiB. The document does not show one (section 8, gaps). */
export const MAX_BODY_BYTES = 1_048_576;

// So that a client that is still sending can read its 413, this much more is read and discarded; then it is cut off.
const DRAINED_BYTES = 8 * MAX_BODY_BYTES;

const TOO_LARGE = problem(413, 'payload_too_large', 'The request body is larger than 1 MiB.');
const NOT_UTF8 = badRequest('malformed_json', 'The request body is not UTF-8.');

// A byte order mark is kept, so that parsing fails: JSON must not have one (RFC 8259, 8.1).
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function isLabelledJson({ headers }: IncomingMessage): boolean {
  const { 'content-type': type = '', 'content-encoding': coding = 'identity' } = headers;
  const otherCharset = /;\s*charset=(?!"?(?:utf-?8|us-ascii)\b)/i;
  return /^application\/json\s*(?:;|$)/i.test(type) && !otherCharset.test(type) && /^identity$/i.test(coding);
}

function textOf(bytes: Buffer, call: Call): string | Problem {
  if (bytes.length === 0) return '';
  const unlabelled = isLabelledJson(call.request) ? null : call.service.refuseMediaType(call);
  if (unlabelled !== null) return unlabelled;
  try {
    return utf8.decode(bytes);
  } catch {
    return NOT_UTF8;
  }
}

/** Reads a request's body and calls `done` once with its text, or why it is refused; never if the client goes away first. */
export function receiveBody(call: Call, done: (body: string | Problem) => void): void {
  const { request } = call;
  const chunks: Buffer[] = [];
  let size = 0;
  request.on('data', (chunk: Buffer) => {
    const wasTooLarge = size > MAX_BODY_BYTES;
    size += chunk.length;
    if (size <= MAX_BODY_BYTES) chunks.push(chunk);
    else if (!wasTooLarge) done(TOO_LARGE);
    if (size > MAX_BODY_BYTES + DRAINED_BYTES) request.destroy();
  });
  request.on('end', () => {
    if (size <= MAX_BODY_BYTES) done(textOf(Buffer.concat(chunks), call));
  });
  // The client went away.
  request.on('error', () => undefined);
}
