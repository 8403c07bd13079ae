import { join } from 'node:path';
import { inOneProcess } from '../checks/testing/in-one-process.ts';

// check/ has a process of its own, beside this one, and package.test.ts installs.
const folders = ['load', 'report', 'serve', 'shared', 'watch'];
await inOneProcess(...folders.map((folder) => join(import.meta.dirname, folder)));
await import('./damaged-files.test.ts');
await import('./library.test.ts');
await import('./rules.test.ts');
await import('./usage.test.ts');
