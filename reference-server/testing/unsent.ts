/** Requests and responses of a server without a socket. */
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';

const SOCKET = new Socket();

/** A request that nobody sent; whoever puts it to a server emits its body. The names of its headers are in small letters. */
export const unsentRequest = (method: string, headers: Readonly<Record<string, string>>) =>
  // Paused, it does not look for a body by itself.
  Object.assign(new IncomingMessage(SOCKET).pause(), {
    ...{ method, headers, httpVersion: '1.1', rawHeaders: Object.entries(headers).flat() },
  });

/** A response that goes nowhere. */
export class UnsentResponse extends ServerResponse {
  readonly fields: (readonly [name: string, value: string])[] = [];
  readonly pieces: Buffer[] = [];
  isOver = false;
  override writeHead(status: number, ...[headers]: readonly unknown[]): this {
    const pairs: readonly string[] = Array.isArray(headers) ? headers : [];
    this.statusCode = status;
    for (let at = 0; at < pairs.length; at += 2) this.fields.push([pairs[at] ?? '', pairs[at + 1] ?? '']);
    return this;
  }
  override write(chunk: unknown, encoding?: unknown): boolean {
    const bytes = () => Buffer.from(String(chunk), encoding === 'latin1' ? encoding : 'utf8');
    return this.pieces.push(Buffer.isBuffer(chunk) ? chunk : bytes()) > 0;
  }
  override end(chunk: unknown = '', encoding?: unknown): this {
    this.write(chunk, encoding);
    this.isOver = true;
    return this;
  }
}
