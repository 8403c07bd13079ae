/** Fastify with @fastify/rate-limit, validated by its schemas. */
import type { RequestListener } from 'node:http';
import rateLimit from '@fastify/rate-limit';
import Fastify, { type FastifyReply, type FastifyRequest } from 'fastify';
import { stringify } from 'lossless-json';
import { type Answer, type Asked, accountOf, PetStore, parseJson, ROUTES, refusal } from './parts.ts';

export interface FastifyWays {
  /** By default the plugin limits each route by itself; by hand, one hook calls its limiter. */
  readonly limits?: 'by hand';
  /** Refusals after which a key is answered with 403 until its window ends. */
  readonly ban?: number;
  /** By default one serializer writes all answers. */
  readonly responseSchemas?: boolean;
  /** Each refusal starts a whole new minute of waiting. */
  readonly continueExceeding?: boolean;
}

/** A refusal on its way to the error handler. */
const refused = (status: number, code: string, message: string) =>
  Object.assign(new Error(message), { answer: refusal(status, code, message), statusCode: status });

export async function fastifyRateLimit(ways: FastifyWays): Promise<RequestListener> {
  const { limits, ban, responseSchemas = false, continueExceeding = false } = ways;
  const app = Fastify();
  const store = new PetStore();
  const send = (reply: FastifyReply, { status, body }: Answer) => reply.code(status).send(body);

  app.addHook('preParsing', async (request) => {
    if (!(await accountOf(request)).isKnown)
      throw refused(401, 'unauthorized', 'a valid API key is required');
  });
  await app.register(rateLimit, {
    global: limits === undefined,
    max: async (request: FastifyRequest) => (await accountOf(request)).perMinute,
    timeWindow: '1 minute',
    keyGenerator: async (request) => (await accountOf(request)).id,
    continueExceeding,
    ...(ban === undefined ? {} : { ban }),
    errorResponseBuilder: (_request, { statusCode, ban, after }) =>
      refused(statusCode, ban ? 'banned' : 'rate_limited', `wait ${after}`),
  });
  if (limits === 'by hand') app.addHook('onRequest', app.rateLimit());

  // The plugin sends the seconds left, but the document asks for a Unix time.
  app.addHook('onSend', async (_request, reply) => {
    const left = reply.getHeader('x-ratelimit-reset');
    if (left !== undefined) reply.header('x-ratelimit-reset', Math.ceil(Date.now() / 1000) + Number(left));
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'string' }, async (_request: FastifyRequest, text: string) => {
    try {
      return parseJson(text);
    } catch {
      throw refused(400, 'not_json', 'the body is not JSON');
    }
  });
  app.setErrorHandler((error: Error & { readonly answer?: Answer }, _request, reply) =>
    send(reply, error.answer ?? refusal(500, 'failed', error.message)),
  );
  app.setNotFoundHandler(limits === undefined ? { preHandler: app.rateLimit() } : {}, (_request, reply) =>
    send(reply, refusal(404, 'not_found', 'nothing is here')),
  );
  if (!responseSchemas) app.setReplySerializer((body) => String(stringify(body)));
  for (const { method, url, status, schema, answer } of ROUTES)
    app[method]<{ Querystring: Asked['query']; Params: { id?: string } }>(
      url,
      { schema: responseSchemas ? { response: { [status]: schema } } : {} },
      async ({ query, params: { id = '' }, body }, reply) =>
        send(reply, await answer(store, { query, id, body })),
    );
  await app.ready();
  return (request, response) => app.routing(request, response);
}
