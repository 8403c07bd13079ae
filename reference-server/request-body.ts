import type { IncomingMessage } from 'node:http';

/** The largest request body that is read: 1 MiB. The document does not show one (section 8, gaps). */
export const MAX_BODY_BYTES = 1_048_576;

// So that a client that is still sending can read its 413, this much more is read and discarded; then it is cut off.
const DRAINED_BYTES = 8 * MAX_BODY_BYTES;

/** A request body: the text, or why there is none to read. */
export type ReceivedBody =
  | { readonly kind: 'text' | 'unlabelled'; readonly text: string }
  | { readonly kind: 'empty' }
  | { readonly kind: 'not-utf8' }
  | { readonly kind: 'too-large' };

// A byte order mark is kept, so that parsing fails: JSON must not have one (RFC 8259, 8.1).
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function isLabelledJson(request: IncomingMessage): boolean {
  const coding = request.headers['content-encoding'];
  if (coding !== undefined && coding.toLowerCase() !== 'identity') return false;
  const [mediaType = '', ...parameters] = (request.headers['content-type'] ?? '').toLowerCase().split(';');
  if (mediaType.trim() !== 'application/json') return false;
  const charset = parameters.map((text) => text.trim()).find((text) => text.startsWith('charset='));
  return charset === undefined || /^charset="?(?:utf-8|utf8|us-ascii)"?$/.test(charset);
}

/** Reads a request's body and calls `done` once, or never if the client goes away first. */
export function receiveBody(request: IncomingMessage, done: (body: ReceivedBody) => void): void {
  const chunks: Buffer[] = [];
  let size = 0;
  let finished = false;
  const finish = (body: ReceivedBody) => {
    if (finished) return;
    finished = true;
    chunks.length = 0;
    done(body);
  };
  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size <= MAX_BODY_BYTES) chunks.push(chunk);
    else finish({ kind: 'too-large' });
    if (size > MAX_BODY_BYTES + DRAINED_BYTES) request.destroy();
  });
  request.on('end', () => {
    if (finished) return;
    if (size === 0) return finish({ kind: 'empty' });
    const kind = isLabelledJson(request) ? 'text' : 'unlabelled';
    let text: string;
    try {
      text = utf8.decode(Buffer.concat(chunks, size));
    } catch {
      return finish(kind === 'text' ? { kind: 'not-utf8' } : { kind, text: '' });
    }
    finish({ kind, text });
  });
  request.on('error', () => {
    finished = true;
  });
}
