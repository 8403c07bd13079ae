/** What may stand between a run and its target, on loopback: each forwards to the target what it lets through. */
import http from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import net from 'node:net';
import type t from 'tap';

type Test = Pick<typeof t, 'teardown'>;
type Incoming = Pick<http.IncomingMessage, 'method' | 'url' | 'headers' | 'pipe'>;
type Outgoing = NodeJS.WritableStream & {
  writeHead(status: number, headers?: http.OutgoingHttpHeaders): unknown;
};

const OF_ONE_CONNECTION = /^(:.*|connection|keep-alive|transfer-encoding|proxy-.*|host)$/;
const passedOn = (headers: http.IncomingHttpHeaders) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !OF_ONE_CONNECTION.test(name)));

/** Answers a request with what the target answers. */
function forward(port: string, request: Incoming, response: Outgoing): void {
  const path = request.url?.replace(/^http:\/\/[^/]*/, '');
  const { method, headers } = request;
  const onward = http.request(
    { port, method, path, headers: passedOn(headers), host: '127.0.0.1' },
    (answer) => {
      response.writeHead(answer.statusCode ?? 500, passedOn(answer.headers));
      answer.pipe(response);
    },
  );
  onward.on('error', () => {
    response.writeHead(502);
    response.end();
  });
  request.pipe(onward);
}

async function listening(t: Test, server: net.Server): Promise<number> {
  const sockets = new Set<net.Socket>();
  server.on('connection', (socket: net.Socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return Object(server.address()).port;
}

/** Lets through what bears this header; answers the others itself. */
export const headerGateway = (t: Test, upstream: URL, name: string, value: string) =>
  listening(
    t,
    http.createServer((request, response) => {
      if (request.headers[name] === value) return forward(upstream.port, request, response);
      response.writeHead(302, { location: 'https://login.example.com/' }).end();
    }),
  );

/** A front end with TLS, in one version of HTTP. */
export const tlsFront = (t: Test, upstream: URL, options: https.ServerOptions, version: 1 | 2 = 1) =>
  listening(
    t,
    version === 1
      ? https.createServer(options, (request, response) => forward(upstream.port, request, response))
      : http2.createSecureServer(options, (request, response) => forward(upstream.port, request, response)),
  );

/** A proxy that reaches every host at one port of this machine; `asked` is what it was asked for. */
export async function proxyTo(t: Test, to: number, credentials?: string) {
  const asked: string[] = [];
  const mayPass = ({ headers }: http.IncomingMessage) =>
    credentials === undefined ||
    headers['proxy-authorization'] === `Basic ${Buffer.from(credentials).toString('base64')}`;
  const server = http.createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    if (mayPass(request)) forward(String(to), request, response);
    else response.writeHead(407, { 'proxy-authenticate': 'Basic' }).end();
  });
  server.on('connect', (request, socket) => {
    asked.push(`CONNECT ${request.url}`);
    if (!mayPass(request)) return void socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
    const onward = net.connect(to, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      onward.pipe(socket).pipe(onward);
    });
    onward.on('error', () => socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n'));
    socket.on('error', () => onward.destroy());
  });
  return { port: await listening(t, server), asked };
}
