import { startReferenceServer } from '../../reference-server.ts';
import { serveMeasured } from './measured-server.ts';

await serveMeasured(async ({ key, animals }) => {
  const server = await startReferenceServer({
    animals,
    keys: [{ name: 'bench', plan: 'enterprise', value: key }],
    enterprise: { perMinute: 1e9, perDay: 1e12 },
  });
  return server.baseUrl;
});
