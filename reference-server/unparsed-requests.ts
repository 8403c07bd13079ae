import { type IncomingMessage, type Server, ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { type Answer, badRequest, methodNotAllowed, refusal } from './answer.ts';
import type { Clock } from './clock.ts';
import { standardHeaders } from './headers.ts';
import { noQuota } from './rate-limiter.ts';

const REFUSALS: Readonly<Record<string, Answer>> = {
  ERR_HTTP_REQUEST_TIMEOUT: refusal(408, 'request_timeout', 'The request took too long to arrive.'),
  HPE_HEADER_OVERFLOW: refusal(431, 'headers_too_large', 'Request line and headers are larger than 16 KiB.'),
};
const UNREADABLE = badRequest('malformed_request', 'The request is not HTTP/1.1.');
const EXPECTATION = refusal(417, 'expectation_failed', 'The only expectation that is met is 100-continue.');
const NO_TUNNELS = methodNotAllowed('GET, POST', 'This server opens no tunnels.');

function headersOf(refused: Answer, clock: Clock): string[] {
  const now = clock.now();
  return [...standardHeaders(refused, { quota: noQuota(now), now }), 'Connection', 'close'];
}

// Without a parsed request there is no response object, so the answer is written as text.
function writeAndClose(socket: Duplex, refused: Answer, clock: Clock): void {
  const headers = headersOf(refused, clock);
  let head = `HTTP/1.1 ${refused.status} ${STATUS_CODES[refused.status] ?? ''}\r\n`;
  for (let at = 0; at < headers.length; at += 2) head += `${headers[at]}: ${headers[at + 1]}\r\n`;
  socket.end(`${head}\r\n${refused.text}`, () => socket.destroy());
}

/**
 * Answers malformed or incomplete requests with an Error body, if the connection still accepts one. Complete requests
 * that arrived earlier are answered first: otherwise this answer would be taken for theirs.
 */
function answerUnparsed(error: NodeJS.ErrnoException, socket: Duplex, clock: Clock): void {
  // node:http keeps a connection's current response here, and looks at it before it answers by itself.
  const pending = '_httpMessage' in socket ? socket._httpMessage : null;
  const response = pending instanceof ServerResponse ? pending : null;
  const isGone = !socket.writable || error.code === 'ECONNRESET';
  if (!isGone && response?.req.complete === true)
    response.once('finish', () => setImmediate(answerUnparsed, error, socket, clock));
  else if (isGone || response?.headersSent === true) socket.destroy();
  else writeAndClose(socket, REFUSALS[error.code ?? ''] ?? UNREADABLE, clock);
}

/** Answers what node:http would answer by itself without an Error body. */
export function serveUnparsedRequests(server: Server, clock: Clock): void {
  server.on('clientError', (error, socket) => answerUnparsed(error, socket, clock));
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    response.writeHead(EXPECTATION.status, headersOf(EXPECTATION, clock)).end(EXPECTATION.text);
  });
  server.on('connect', (_request: IncomingMessage, socket: Duplex) =>
    writeAndClose(socket, NO_TUNNELS, clock),
  );
}
