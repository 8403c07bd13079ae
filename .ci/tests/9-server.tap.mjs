import { inOneProcess } from './in-one-process.mjs';

await inOneProcess('spec');
await inOneProcess('reference-server');
