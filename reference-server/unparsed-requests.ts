import { type IncomingMessage, type Server, ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Clock } from './clock.ts';
import { methodNotAllowed, type Problem, problem } from './error-body.ts';
import { standardHeaders } from './headers.ts';
import { refusal } from './operations.ts';
import { noQuota } from './rate-limiter.ts';

const PROBLEMS: Readonly<Record<string, Problem>> = {
  ERR_HTTP_REQUEST_TIMEOUT: problem(408, 'request_timeout', 'The request took too long to arrive.'),
  HPE_HEADER_OVERFLOW: problem(431, 'headers_too_large', 'Request line and headers are larger than 16 KiB.'),
};
const UNREADABLE = problem(400, 'malformed_request', 'The request is not HTTP/1.1.');
const EXPECTATION = problem(417, 'expectation_failed', 'The only expectation that is met is 100-continue.');
const NO_TUNNELS = methodNotAllowed('GET, POST', 'This server opens no tunnels.');

function answerTo(refused: Problem, clock: Clock): { headers: string[]; text: string } {
  const answer = refusal(refused);
  const now = clock.now();
  const headers = [...standardHeaders(answer, { quota: noQuota(now), now }), 'Connection', 'close'];
  return { headers, text: answer.text };
}

// Without a parsed request there is no response object, so the answer is written as text.
function writeAndClose(socket: Duplex, refused: Problem, clock: Clock): void {
  const { headers, text } = answerTo(refused, clock);
  let head = `HTTP/1.1 ${refused.status} ${STATUS_CODES[refused.status] ?? ''}\r\n`;
  for (let at = 0; at < headers.length; at += 2) head += `${headers[at]}: ${headers[at + 1]}\r\n`;
  socket.end(`${head}\r\n${text}`, () => socket.destroy());
}

// node:http keeps a connection's current response here, and looks at it before it answers by itself.
function pendingResponse(socket: Duplex): ServerResponse | null {
  if (!('_httpMessage' in socket)) return null;
  return socket._httpMessage instanceof ServerResponse ? socket._httpMessage : null;
}

/**
 * Answers malformed or incomplete requests with an Error body, if the connection still accepts one. Complete requests
 * that arrived earlier are answered first: otherwise this answer would be taken for theirs.
 */
function answerUnparsed(error: NodeJS.ErrnoException, socket: Duplex, clock: Clock): void {
  const response = pendingResponse(socket);
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
  } else if (response?.req.complete === true) {
    response.once('finish', () => setImmediate(answerUnparsed, error, socket, clock));
  } else if (response?.headersSent === true) {
    socket.destroy();
  } else {
    writeAndClose(socket, PROBLEMS[error.code ?? ''] ?? UNREADABLE, clock);
  }
}

/** Answers what node:http would answer by itself without an Error body. */
export function serveUnparsedRequests(server: Server, clock: Clock): void {
  server.on('clientError', (error, socket) => answerUnparsed(error, socket, clock));
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    const { headers, text } = answerTo(EXPECTATION, clock);
    response.writeHead(EXPECTATION.status, headers).end(text);
  });
  server.on('connect', (_request: IncomingMessage, socket: Duplex) =>
    writeAndClose(socket, NO_TUNNELS, clock),
  );
}
