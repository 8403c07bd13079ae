import { onTheWire } from './good-answers.ts';
import { failure, type HostileTarget, hostile, response } from './hostile-target.ts';
import { startRawServer } from './raw-server.ts';

const HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n';

/** Targets that break the connection, stay silent, or answer too slowly. */
export const connectionTargets: readonly HostileTarget[] = [
  {
    name: 'refuses the connection',
    expected: failure('refused', /refused: nothing listens/),
    async start() {
      // A port that was free a moment ago: nothing listens there.
      const { port, close } = await startRawServer({});
      await close();
      return {
        url: `http://127.0.0.1:${port}/v1`,
        requests: [],
        connections: 0,
        close: async () => undefined,
      };
    },
  },
  hostile('resets on accept', failure('reset', /closed without a response|was reset/), () => ({
    connected: (connection) => connection.reset(),
  })),
  hostile('closes on accept', failure('reset', /closed without a response/), () => ({
    connected: (connection) => connection.end(),
  })),
  hostile('resets after the request', failure('reset', /closed without a response/), () => ({
    request: (connection) => connection.reset(),
  })),
  hostile('closes after the request', failure('reset', /closed without a response/), () => ({
    request: (connection) => connection.end(),
  })),
  hostile('closes within the status line', failure('reset', /closed without a response/), () => ({
    request: (connection) => connection.end('HTTP/1.1 20'),
  })),
  hostile('closes within the headers', failure('reset', /closed without a response/), () => ({
    request: (connection) => connection.end(`${HEAD}X-Rate`),
  })),
  hostile('resets after the headers', failure('reset', /middle of the body, after 0 bytes/), () => ({
    request: (connection) => {
      connection.write(`${HEAD}Content-Length: 10\r\n\r\n`);
      setTimeout(() => connection.reset(), 50);
    },
  })),
  hostile('resets in the middle of the body', failure('reset', /middle of the body, after 5 bytes/), () => ({
    request: (connection) => {
      connection.write(`${HEAD}Content-Length: 10\r\n\r\n[{"id`);
      setTimeout(() => connection.reset(), 50);
    },
  })),
  hostile('closes in the middle of the body', failure('reset', /middle of the body, after 5 bytes/), () => ({
    request: (connection) => connection.end(`${HEAD}Content-Length: 10\r\n\r\n[{"id`),
  })),
  hostile('never answers', failure('headers-timeout', /no response within 0.4 s/), () => ({})),
  hostile('stops within the status line', failure('headers-timeout', /no response within/), () => ({
    request: (connection) => connection.write('HTTP/1.1 20'),
  })),
  hostile('stops within the headers', failure('headers-timeout', /no response within/), () => ({
    request: (connection) => connection.write(HEAD),
  })),
  hostile('stops after the headers', failure('body-timeout', /body was not complete within 0.4 s/), () => ({
    request: (connection) => connection.write(`${HEAD}Content-Length: 10\r\n\r\n`),
  })),
  hostile('sends headers byte by byte for ever', failure('headers-timeout', /no response within/), () => ({
    request: (connection) => {
      connection.write(`${HEAD}X-Slow: `);
      connection.trickle('x', 20);
    },
  })),
  hostile('sends a body byte by byte for ever', failure('body-timeout', /not complete within/), () => ({
    request: (connection) => {
      connection.write(`${HEAD}Content-Length: 1000000\r\n\r\n`);
      connection.trickle(' ', 20);
    },
  })),
  hostile('closes a connection that it said to keep', response({ status: 200 }), (answers) => ({
    async request(connection, request) {
      connection.write(onTheWire(await answers(request)));
      setTimeout(() => connection.end(), 5);
    },
  })),
  hostile('answers the first request of a connection only', response({ status: 200 }), (answers) => {
    const served = new Set<number>();
    return {
      async request(connection, request) {
        if (served.has(connection.number)) connection.reset();
        served.add(connection.number);
        connection.write(onTheWire(await answers(request)));
      },
    };
  }),
];
