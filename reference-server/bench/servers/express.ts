import { hash } from 'node:crypto';
import { once } from 'node:events';
import express from 'express';
import { rateLimit } from 'express-rate-limit';
import { baseAddressOf, serveMeasured } from './measured-server.ts';

await serveMeasured(async ({ body, key }) => {
  const digests = new Map([[hash('sha256', key), 'bench']]);
  const pets: unknown = JSON.parse(body);
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.use((request, response, next) => {
    const token = request.headers.authorization?.slice(7) ?? '';
    const caller = digests.get(hash('sha256', token));
    Object.assign(response.locals, { caller });
    if (caller === undefined) {
      response
        .status(401)
        .json({ code: 'unauthorized', message: 'A valid API key is required.', status: 401 });
    } else next();
  });
  app.use(
    rateLimit({
      windowMs: 60_000,
      limit: 1e9,
      legacyHeaders: true,
      standardHeaders: false,
      keyGenerator: (_request, { locals: { caller } }) => String(caller),
    }),
  );
  app.get('/v1/pets', (_request, response) => {
    response.json(pets);
  });
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return baseAddressOf(server);
});
