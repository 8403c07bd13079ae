import { inOneProcess } from './in-one-process.mjs';

for (const folder of ['reports', 'spec', 'reference-server']) await inOneProcess(folder);
