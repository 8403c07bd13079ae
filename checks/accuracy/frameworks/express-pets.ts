/** The operations in Express, behind any limiter. */
import express, { type ErrorRequestHandler, type RequestHandler, type Response } from 'express';
import { stringify } from 'lossless-json';
import { accountOf } from './accounts.ts';
import { type Answer, PetStore, parseJson, refusal } from './pet-store.ts';

export function send(response: Response, { status, body }: Answer): void {
  response.status(status).type('json').send(stringify(body));
}

export function expressPets(limit: RequestHandler): express.Express {
  const store = new PetStore();
  const app = express();
  app.set('env', 'test'); // keeps errors out of the log
  app.use(limit, async (request, response, next) => {
    if ((await accountOf(request)).isKnown) next();
    else send(response, refusal(401, 'unauthorized', 'a valid API key is required'));
  });
  app.get('/v1/pets', ({ query }, response) => send(response, store.list(query)));
  app.post('/v1/pets', express.text({ type: () => true }), async ({ body }, response) =>
    send(response, await store.add(parseJson(typeof body === 'string' ? body : ''))),
  );
  app.get('/v1/pets/:id', ({ params: { id } }, response) => send(response, store.get(id)));
  app.use((_request, response) => send(response, refusal(404, 'not_found', 'nothing is here')));
  app.use(sendError);
  return app;
}

// Express recognises error handlers by their four parameters.
const sendError: ErrorRequestHandler = (error: unknown, _request, response, _next) =>
  send(
    response,
    error instanceof SyntaxError
      ? refusal(400, 'not_json', 'the body is not JSON')
      : refusal(500, 'failed', String(error)),
  );
