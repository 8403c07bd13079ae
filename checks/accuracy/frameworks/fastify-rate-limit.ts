/** Fastify with @fastify/rate-limit, validated by its schemas. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import rateLimit, { type RateLimitPluginOptions } from '@fastify/rate-limit';
import Fastify, { type FastifyReply, type FastifyRequest } from 'fastify';
import { stringify } from 'lossless-json';
import { callers } from './callers.ts';
import type { Is } from './catalogue.ts';
import { type Answer, PetStore, parseJson, refusal, type Ways } from './pet-store.ts';

export interface FastifyWays extends Ways {
  readonly keys: 'map' | 'database';
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
class Refusal extends Error {
  readonly answer: Answer;
  readonly statusCode: number;

  constructor(answer: Answer) {
    super('refused');
    this.answer = answer;
    this.statusCode = answer.status;
  }
}

const QUERY = {
  type: 'object',
  properties: {
    limit: { type: 'integer', minimum: 1, maximum: 100 },
    status: { enum: ['available', 'pending', 'sold'] },
  },
};
const FIELDS = { id: { type: 'integer' }, name: { type: 'string' }, categoryId: { type: 'integer' } };
const PET = { type: 'object', properties: { ...FIELDS, status: { type: 'string' } } };
/** Fastify serializes only the fields that a schema names. */
const PET_WITHOUT_STATUS = { type: 'object', properties: FIELDS };

type Listener = (request: IncomingMessage, response: ServerResponse) => void;

export async function fastifyRateLimit(ways: FastifyWays, is: Is): Promise<Listener> {
  const app = Fastify();
  const store = new PetStore(is, ways);
  const callerOf = callers(is, ways.keys);
  const send = (reply: FastifyReply, { status, body }: Answer) => reply.code(status).send(body);

  async function authenticate(request: FastifyRequest): Promise<void> {
    if (!(await callerOf(request)).known)
      throw new Refusal(refusal(401, 'unauthorized', 'a valid API key is required'));
  }
  if (is('limiter-behind-auth-in-fastify')) app.addHook('onRequest', authenticate);
  else app.addHook('preParsing', authenticate);

  const options: RateLimitPluginOptions = {
    max: async (request: FastifyRequest) => (await callerOf(request)).perMinute,
    timeWindow: '1 minute',
    keyGenerator: async (request) => (await callerOf(request)).id,
    continueExceeding: ways.continueExceeding ?? false,
    ...(ways.ban === undefined ? {} : { ban: ways.ban }),
    ...(is('limiter-behind-validation') ? { hook: 'preHandler' } : {}),
    ...(is('headers-where-refused-only')
      ? {
          addHeadersOnExceeding: {
            'x-ratelimit-limit': false,
            'x-ratelimit-remaining': false,
            'x-ratelimit-reset': false,
          },
        }
      : {}),
    ...(is('refusal-as-plugin-sends-it')
      ? {}
      : {
          errorResponseBuilder: (_request, { ban, statusCode, after }) =>
            new Refusal(refusal(statusCode, ban ? 'banned' : 'rate_limited', `wait ${after}`)),
        }),
  };
  await app.register(rateLimit, { ...options, global: ways.limits === undefined });
  if (ways.limits === 'by hand') app.addHook('onRequest', app.rateLimit());

  // The plugin sends the seconds left, but the document asks for a Unix time.
  if (!is('reset-as-plugin-sends-it'))
    app.addHook('onSend', async (_request, reply) => {
      const left = reply.getHeader('x-ratelimit-reset');
      if (left !== undefined) reply.header('x-ratelimit-reset', Math.ceil(Date.now() / 1000) + Number(left));
    });

  if (!is('bodies-as-fastify-reads-them')) {
    app.removeAllContentTypeParsers();
    app.addContentTypeParser('*', { parseAs: 'string' }, async (_request: FastifyRequest, text: string) => {
      try {
        return parseJson(text);
      } catch {
        throw new Refusal(refusal(400, 'not_json', 'the body is not JSON'));
      }
    });
  }
  if (!is('errors-as-fastify-sends-them'))
    app.setErrorHandler((error: Error & { readonly statusCode?: number }, _request, reply) => {
      if (error instanceof Refusal) return send(reply, error.answer);
      const { statusCode = 500, message } = error;
      if (statusCode === 429 && is('refusal-as-plugin-sends-it')) return reply.send(error);
      return send(reply, refusal(statusCode, 'failed', message));
    });
  const notFound = refusal(404, 'not_found', 'nothing is here');
  const limitUnknown = ways.limits === undefined ? { preHandler: app.rateLimit() } : {};
  app.setNotFoundHandler(limitUnknown, (_request, reply) => send(reply, notFound));
  if (ways.responseSchemas !== true) app.setReplySerializer((body) => String(stringify(body)));
  const answers = (status: number, body: object) =>
    ways.responseSchemas === true ? { response: { [status]: body } } : {};

  app.get<{ Querystring: { readonly limit?: number; readonly status?: string } }>(
    '/v1/pets',
    {
      schema: {
        ...answers(200, { type: 'array', items: PET }),
        ...(ways.oddQueries === 'refused' ? { querystring: QUERY } : {}),
      },
    },
    ({ query }, reply) => send(reply, store.list(query.limit, query.status)),
  );
  const created = answers(201, is('created-by-a-poor-schema') ? PET_WITHOUT_STATUS : PET);
  app.post('/v1/pets', { schema: created }, async ({ body }, reply) => send(reply, await store.add(body)));
  app.get<{ Params: { readonly id: string } }>(
    '/v1/pets/:id',
    { schema: answers(200, PET) },
    ({ params: { id } }, reply) => send(reply, store.get(id)),
  );
  await app.ready();
  return (request, response) => app.routing(request, response);
}
