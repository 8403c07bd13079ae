import type { IncomingMessage } from 'node:http';
import { type Answer, badRequest, refusal } from './answer.ts';
import type { Call } from './design.ts';

/** The largest request body that is read: 1 MiB. The document does not show one (section 8, gaps). */
export const MAX_BODY_BYTES = 1_048_576;

// So that a client that is still sending can read its 413, this much more is read and discarded; then it is cut off.
const DRAINED_BYTES = 8 * MAX_BODY_BYTES;

const TOO_LARGE = refusal(413, 'payload_too_large', 'The request body is larger than 1 MiB.');
const NOT_UTF8 = badRequest('malformed_json', 'The request body is not UTF-8.');

// A byte order mark is kept, so that parsing fails: JSON must not have one (RFC 8259, 8.1).
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function isLabelledJson({ headers }: IncomingMessage): boolean {
  const { 'content-type': type = '', 'content-encoding': coding = 'identity' } = headers;
  const otherCharset = /;\s*charset=(?!"?(?:utf-?8|us-ascii)\b)/i;
  return /^application\/json\s*(?:;|$)/i.test(type) && !otherCharset.test(type) && /^identity$/i.test(coding);
}

/** Keeps the body's text, or says why it is refused. */
function decode(bytes: Buffer, call: Call): Answer | null {
  if (bytes.length === 0) return null;
  const unlabelled = isLabelledJson(call.request) ? null : call.service.refuseMediaType(call);
  if (unlabelled !== null) return unlabelled;
  try {
    call.body = utf8.decode(bytes);
    return null;
  } catch {
    return NOT_UTF8;
  }
}

/** Reads a request's body and calls `done` once, with why it is refused if it is; never if the client goes away first. */
export function receiveBody(call: Call, done: (refused: Answer | null) => void): void {
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
    if (size <= MAX_BODY_BYTES) done(decode(Buffer.concat(chunks), call));
  });
  // The client went away.
  request.on('error', () => undefined);
}
