import { connect, type Socket } from 'node:net';

/** One complete response. */
export interface RawResponse {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** A connection that sends arbitrary bytes. */
export interface RawConnection {
  readonly socket: Socket;
  /** Everything received, once the connection is closed; fails if it is still open after ten seconds. */
  readonly closed: Promise<{ responses: RawResponse[]; rest: string }>;
}

/** Opens a connection and sends something. */
export function rawConnection(port: number, bytes: string | Uint8Array = ''): RawConnection {
  const socket = connect(port, '127.0.0.1');
  let received = '';
  socket.on('data', (chunk: Buffer) => {
    received += chunk.toString('latin1');
  });
  socket.on('error', () => undefined);
  const closed = new Promise<{ responses: RawResponse[]; rest: string }>((resolve, reject) => {
    const late = () => reject(new Error(`still open after ${received.length} characters`));
    const deadline = setTimeout(late, 10_000).unref();
    socket.on('close', () => {
      clearTimeout(deadline);
      resolve(responsesIn(received));
    });
  });
  closed.catch(() => undefined);
  socket.write(bytes, 'latin1');
  return { socket, closed };
}

/** Splits the complete responses (those with a Content-Length) off the front of a text. */
function responsesIn(text: string): { responses: RawResponse[]; rest: string } {
  const responses: RawResponse[] = [];
  for (let rest = text; ; ) {
    const end = rest.indexOf('\r\n\r\n');
    const [statusLine = '', ...fields] = rest.slice(0, end).split('\r\n');
    const status = /^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1];
    if (end === -1 || status === undefined) return { responses, rest };
    const headers = new Map(
      fields.map((field) => {
        const [, name = '', value = ''] = /^(.*?): *(.*)$/.exec(field) ?? [];
        return [name.toLowerCase(), value];
      }),
    );
    const length = status.startsWith('1') ? 0 : Number(headers.get('content-length'));
    if (!(rest.length >= end + 4 + length)) return { responses, rest };
    responses.push({ status: Number(status), headers, body: rest.slice(end + 4, end + 4 + length) });
    rest = rest.slice(end + 4 + length);
  }
}
