import type { IncomingMessage } from 'node:http';

/** The largest request body that is read: 1 MiB. The document does not show one (section 8, gaps). */
export const MAX_BODY_BYTES = 1_048_576;

// So that a client that is still sending can read its 413, this much more is read and discarded; then it is cut off.
const DRAINED_BYTES = 8 * MAX_BODY_BYTES;

/** A request body: its text, or why there is none to read. `unlabelled` is not declared as JSON in UTF-8. */
export interface ReceivedBody {
  readonly kind: 'text' | 'unlabelled' | 'not-utf8' | 'too-large';
  readonly text: string;
}

export const NO_BODY: ReceivedBody = { kind: 'text', text: '' };

// A byte order mark is kept, so that parsing fails: JSON must not have one (RFC 8259, 8.1).
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function isLabelledJson({ headers }: IncomingMessage): boolean {
  const { 'content-type': type = '', 'content-encoding': coding = 'identity' } = headers;
  const otherCharset = /;\s*charset=(?!"?(?:utf-?8|us-ascii)\b)/i;
  return /^application\/json\s*(?:;|$)/i.test(type) && !otherCharset.test(type) && /^identity$/i.test(coding);
}

function bodyOf(request: IncomingMessage, bytes: Buffer): ReceivedBody {
  if (bytes.length === 0) return NO_BODY;
  const kind = isLabelledJson(request) ? 'text' : 'unlabelled';
  try {
    return { kind, text: utf8.decode(bytes) };
  } catch {
    return { kind: kind === 'text' ? 'not-utf8' : kind, text: '' };
  }
}

/** Reads a request's body and calls `done` once, or never if the client goes away first. */
export function receiveBody(request: IncomingMessage, done: (body: ReceivedBody) => void): void {
  const chunks: Buffer[] = [];
  let size = 0;
  request.on('data', (chunk: Buffer) => {
    const wasTooLarge = size > MAX_BODY_BYTES;
    size += chunk.length;
    if (size <= MAX_BODY_BYTES) chunks.push(chunk);
    else if (!wasTooLarge) done({ kind: 'too-large', text: '' });
    if (size > MAX_BODY_BYTES + DRAINED_BYTES) request.destroy();
  });
  request.on('end', () => {
    if (size <= MAX_BODY_BYTES) done(bodyOf(request, Buffer.concat(chunks)));
  });
  // The client went away.
  request.on('error', () => undefined);
}
