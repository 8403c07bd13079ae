import { inOneProcess } from './in-one-process.mjs';

await inOneProcess('examples');
// It keeps a processor busy for seconds: a server beside it, under a real load, would not answer in that time.
await import('../../scenarios/simulated.test.ts');
