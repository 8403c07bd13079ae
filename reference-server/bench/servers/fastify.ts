import { hash } from 'node:crypto';
import rateLimit from '@fastify/rate-limit';
import Fastify from 'fastify';
import { baseAddressOf, serveMeasured } from './measured-server.ts';

const PET = {
  type: 'object',
  required: ['id', 'name', 'categoryId'],
  properties: {
    id: { type: 'integer' },
    name: { type: 'string' },
    categoryId: { type: 'integer' },
    status: { type: 'string', enum: ['available', 'pending', 'sold'] },
  },
};

await serveMeasured(async ({ body, key }) => {
  const digests = new Map([[hash('sha256', key), 'bench']]);
  const pets: unknown = JSON.parse(body);
  const app = Fastify();
  app.addHook('onRequest', async (request, reply) => {
    const token = request.headers.authorization?.slice(7) ?? '';
    if (digests.has(hash('sha256', token))) return;
    await reply
      .code(401)
      .send({ code: 'unauthorized', message: 'A valid API key is required.', status: 401 });
  });
  await app.register(rateLimit, {
    max: 1e9,
    timeWindow: 60_000,
    keyGenerator: (request) =>
      digests.get(hash('sha256', request.headers.authorization?.slice(7) ?? '')) ?? '',
  });
  const schema = { response: { 200: { type: 'array', items: PET } } };
  app.get('/v1/pets', { schema }, async () => pets);
  await app.listen({ port: 0, host: '127.0.0.1' });
  return baseAddressOf(app.server);
});
