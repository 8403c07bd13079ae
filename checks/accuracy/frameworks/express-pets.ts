/** The operations in Express, behind any limiter. */
import express, { type ErrorRequestHandler, type RequestHandler, type Response } from 'express';
import { stringify } from 'lossless-json';
import type { Caller, Request } from './callers.ts';
import type { Is } from './catalogue.ts';
import { type Answer, type PetStore, parseJson, refusal } from './pet-store.ts';

export function send(response: Response, { status, body }: Answer): void {
  response.status(status).type('json').send(stringify(body));
}

interface Parts {
  readonly store: PetStore;
  readonly callerOf: (request: Request) => Promise<Caller>;
  /** Makes a limiter; called once for each bucket of a key. */
  readonly limiter: () => RequestHandler;
}

export function expressPets({ store, callerOf, limiter }: Parts, is: Is): express.Express {
  const app = express();
  app.set('env', 'test'); // keeps errors out of the log
  const limit = limiter();
  const authenticate: RequestHandler = async (request, response, next) => {
    if ((await callerOf(request)).known) next();
    else send(response, refusal(401, 'unauthorized', 'a valid API key is required'));
  };
  if (is('bucket-per-route')) {
    app.get('/v1/pets', limiter());
    app.post('/v1/pets', limiter());
    app.get('/v1/pets/:id', limiter());
    app.use(authenticate);
  } else if (is('additions-unlimited')) {
    app.get('/{*path}', limit);
    app.use(authenticate);
  } else app.use(...(is('limiter-behind-auth') ? [authenticate, limit] : [limit, authenticate]));

  if (is('bodies-as-express-reads-them')) app.use(express.json());
  else app.post('/{*path}', express.text({ type: () => true }), readBody);

  app.get('/v1/pets', (request, response) =>
    send(response, store.list(request.query['limit'], request.query['status'])),
  );
  app.post('/v1/pets', async (request, response) => send(response, await store.add(request.body)));
  app.get('/v1/pets/:id', (request, response) => {
    if (is('deprecated-until-2031')) response.set('Sunset', 'Fri, 05 Dec 2031 00:00:00 GMT');
    const answer = store.get(request.params.id);
    if (answer.status === 404 && is('not-found-as-text')) response.sendStatus(404);
    else send(response, answer);
  });
  app.use((_request, response) => send(response, refusal(404, 'not_found', 'nothing is here')));
  if (!is('errors-as-express-sends-them')) app.use(sendError);
  return app;
}

const readBody: RequestHandler = (request, _response, next) => {
  const text: unknown = request.body;
  try {
    request.body = parseJson(typeof text === 'string' ? text : '');
    next();
  } catch (error) {
    next(Object.assign(new Error('the body is not JSON', { cause: error }), { status: 400 }));
  }
};

// Express recognises error handlers by their four parameters.
const sendError: ErrorRequestHandler = (error: unknown, _request, response, _next) => {
  const isHttp = error instanceof Error && 'status' in error && typeof error.status === 'number';
  const status = isHttp ? Number(error.status) : 500;
  send(response, refusal(status, 'failed', isHttp ? error.message : 'the service failed'));
};
