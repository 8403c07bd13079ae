import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** Everything received on a connection until it was closed or went quiet. */
export interface Conversation {
  readonly text: string;
  readonly closed: boolean;
}

/** A connection that sends arbitrary bytes. */
export class RawConnection {
  readonly socket: Socket;
  #received = '';
  #closed = false;
  #waiting: (() => void)[] = [];

  constructor(port: number) {
    this.socket = connect(port, '127.0.0.1');
    this.socket.on('data', (chunk: Buffer) => {
      this.#received += chunk.toString('latin1');
      this.#wake();
    });
    this.socket.on('error', () => undefined);
    this.socket.on('close', () => {
      this.#closed = true;
      this.#wake();
    });
  }

  get text(): string {
    return this.#received;
  }

  get closed(): boolean {
    return this.#closed;
  }

  send(bytes: string | Uint8Array): this {
    this.socket.write(bytes, 'latin1');
    return this;
  }

  async connected(): Promise<this> {
    if (this.socket.connecting)
      await Promise.race([once(this.socket, 'connect'), once(this.socket, 'close')]);
    return this;
  }

  /**
   * Waits until what was received satisfies the condition or the connection is closed.
   *
   * @throws Error if neither happens within ten seconds
   */
  async until(condition: (text: string) => boolean): Promise<Conversation> {
    let late = false;
    const deadline = setTimeout(() => {
      late = true;
      this.#wake();
    }, 10_000);
    while (!condition(this.#received) && !this.#closed) {
      if (late) throw new Error(`the connection is still open after ${this.#received.length} characters`);
      await new Promise<void>((wake) => this.#waiting.push(wake));
    }
    clearTimeout(deadline);
    return { text: this.#received, closed: this.#closed };
  }

  untilClosed(): Promise<Conversation> {
    return this.until(() => false);
  }

  end(): void {
    this.socket.destroy();
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }
}

/** One response, as far as it has arrived. */
export interface RawResponse {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** Splits the complete responses (those with a Content-Length) off the front of the received text. */
export function responsesIn(text: string): { responses: RawResponse[]; rest: string } {
  const responses: RawResponse[] = [];
  let rest = text;
  for (;;) {
    const end = rest.indexOf('\r\n\r\n');
    const [statusLine = '', ...fields] = rest.slice(0, end).split('\r\n');
    const status = /^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1];
    if (end === -1 || status === undefined) return { responses, rest };
    const headers = new Map(
      fields.map((field) => {
        const colon = field.indexOf(':');
        return [field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim()];
      }),
    );
    const length = status.startsWith('1') ? 0 : Number(headers.get('content-length') ?? Number.NaN);
    if (!(rest.length >= end + 4 + length)) return { responses, rest };
    responses.push({ status: Number(status), headers, body: rest.slice(end + 4, end + 4 + length) });
    rest = rest.slice(end + 4 + length);
  }
}
