import { onTheWire } from './good-answers.ts';
import { type HostileTarget, hostile, response } from './hostile-target.ts';

/** How many requests are answered correctly before a target changes. */
export const GOOD_REQUESTS = 5;
/** How many requests a target that recovers leaves unanswered. */
export const MISSED_REQUESTS = 3;
/** Milliseconds per answer after a target has slowed down. */
export const SLOW_ANSWER = 50;

const GOOD = response({ status: 200 });

/** Targets that behave well at first. Each counts its requests from its start. */
export const changingTargets: readonly HostileTarget[] = [
  hostile('dies in the middle of the run', GOOD, (answers) => ({
    async request(connection, request) {
      if (request.number > GOOD_REQUESTS) connection.reset();
      else connection.write(onTheWire(await answers(request)));
    },
  })),
  hostile('dies and comes back', GOOD, (answers) => ({
    async request(connection, request) {
      const dead = request.number > GOOD_REQUESTS && request.number <= GOOD_REQUESTS + MISSED_REQUESTS;
      if (dead) connection.reset();
      else connection.write(onTheWire(await answers(request)));
    },
  })),
  hostile('loses every tenth connection', GOOD, (answers) => ({
    async request(connection, request) {
      if (request.number % 10 === 0) connection.reset();
      else connection.write(onTheWire(await answers(request)));
    },
  })),
  hostile('resets every seventh connection', GOOD, (answers) => ({
    async request(connection, request) {
      if (connection.number % 7 === 0) connection.reset();
      else connection.write(onTheWire(await answers(request)));
    },
  })),
  hostile('has a gateway that loses one request in twelve', GOOD, (answers) => ({
    async request(connection, request) {
      const body = Buffer.from('<html><h1>502 Bad Gateway</h1></html>');
      const gone = { status: 502, headers: [['Content-Type', 'text/html']] as const, body };
      connection.write(onTheWire(request.number % 12 === 0 ? gone : await answers(request)));
    },
  })),
  hostile('becomes slow', GOOD, (answers) => ({
    async request(connection, request) {
      const answer = onTheWire(await answers(request));
      setTimeout(() => connection.write(answer), request.number > GOOD_REQUESTS ? SLOW_ANSWER : 0);
    },
  })),
  hostile('falls silent', GOOD, (answers) => ({
    async request(connection, request) {
      if (request.number <= GOOD_REQUESTS) connection.write(onTheWire(await answers(request)));
    },
  })),
  hostile('becomes a gateway whose server is gone', GOOD, (answers) => ({
    async request(connection, request) {
      const body = Buffer.from('<html><h1>502 Bad Gateway</h1></html>');
      const gone = { status: 502, headers: [['Content-Type', 'text/html']] as const, body };
      connection.write(onTheWire(request.number > GOOD_REQUESTS ? gone : await answers(request)));
    },
  })),
  hostile('becomes another service', GOOD, (answers) => ({
    async request(connection, request) {
      const body = Buffer.from('{"orders":[]}');
      const other = { status: 200, headers: [['Content-Type', 'application/json']] as const, body };
      connection.write(onTheWire(request.number > GOOD_REQUESTS ? other : await answers(request)));
    },
  })),
  hostile("answers with the previous client's response", GOOD, (answers) => {
    let previous: Buffer | undefined;
    return {
      async request(connection, request) {
        const own = onTheWire(await answers(request));
        connection.write(previous ?? own);
        previous = own;
      },
    };
  }),
];
