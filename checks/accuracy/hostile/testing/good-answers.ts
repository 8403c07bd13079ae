import http from 'node:http';
import type { RawRequest } from './raw-server.ts';

/** A correct answer, for a behaviour to spoil. */
export interface Answer {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
}

/** Answers a request like a conforming target. */
export type Answerer = (request: RawRequest) => Promise<Answer>;

const ANIMAL = { id: 1, name: 'Rex', categoryId: 1, status: 'available' };

/** One animal and an endless quota: enough for a single exchange, not for a run. */
export const cannedAnswer: Answerer = async (request) => {
  const headers: [string, string][] = [
    ['Content-Type', 'application/json'],
    ['X-RateLimit-Limit', '60'],
    ['X-RateLimit-Remaining', '59'],
    ['X-RateLimit-Reset', String(Math.ceil(Date.now() / 1000) + 60)],
    ['Date', new Date().toUTCString()],
  ];
  const listed = request.method === 'GET' && /\/pets(\?|$)/.test(request.path);
  const body = JSON.stringify(listed ? [ANIMAL] : ANIMAL);
  return { status: request.method === 'POST' ? 201 : 200, headers, body: Buffer.from(body) };
};

/**
 * Lets a conforming server answer every request, so that a whole run meets only one misbehaviour.
 *
 * @param upstream its address, without a path
 */
export function answersFrom(upstream: string): Answerer {
  return (request) =>
    new Promise((resolve, reject) => {
      const headers = Object.fromEntries(
        request.head
          .split('\r\n')
          .slice(1)
          .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()])
          .filter(([name]) => !/^(connection|host)$/i.test(name ?? '')),
      );
      const options = { method: request.method, headers, agent: false };
      const forwarded = http.request(upstream + request.path, options, (response) => {
        const pieces: Buffer[] = [];
        response.on('data', (piece: Buffer) => pieces.push(piece));
        response.on('error', reject);
        response.on('end', () => {
          const raw = response.rawHeaders;
          const pairs = raw.flatMap((name, i) => (i % 2 === 0 ? [[name, raw[i + 1] ?? ''] as const] : []));
          resolve({
            status: response.statusCode ?? 0,
            headers: pairs.filter(([name]) => !HOP_BY_HOP.test(name)),
            body: Buffer.concat(pieces),
          });
        });
      });
      forwarded.on('error', reject);
      forwarded.end(request.body);
    });
}

const HOP_BY_HOP = /^(connection|keep-alive|content-length|transfer-encoding)$/i;

/** The answer on the wire, with a correct Content-Length. */
export function onTheWire({ status, headers, body }: Answer): Buffer {
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  const head = `HTTP/1.1 ${status} ${http.STATUS_CODES[status] ?? 'Unknown'}\r\n${lines}Content-Length: ${body.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head, 'latin1'), body]);
}

/** The answer with these headers, which replace those of the same name. */
export function withHeaders(answer: Answer, headers: Answer['headers']): Answer {
  const names = new Set(headers.map(([name]) => name.toLowerCase()));
  const kept = answer.headers.filter(([name]) => !names.has(name.toLowerCase()));
  return { ...answer, headers: [...kept, ...headers] };
}

/** The answer without these headers. */
export function withoutHeaders(answer: Answer, ...names: readonly string[]): Answer {
  return { ...answer, headers: answer.headers.filter(([name]) => !names.includes(name.toLowerCase())) };
}
