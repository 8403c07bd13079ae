import { inOneProcess } from './in-one-process.mjs';

await inOneProcess('cli/check');
