import { inOneProcess } from './in-one-process.mjs';

await inOneProcess('cli', 'cli/check/', 'cli/package.test.ts');
