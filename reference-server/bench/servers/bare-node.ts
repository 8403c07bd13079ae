import { serveConstant, serveMeasured } from './measured-server.ts';

// The limit of what a server on node:http can do.
await serveMeasured(({ body }) => serveConstant(body));
