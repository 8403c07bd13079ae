import { join } from 'node:path';
import { inOneProcess } from '../checks/testing/in-one-process.ts';

// In check/, load/ and watch/ runs are waited for, and package.test.ts installs.
await inOneProcess(...['report', 'serve', 'shared'].map((folder) => join(import.meta.dirname, folder)));
await import('./damaged-files.test.ts');
await import('./library.test.ts');
await import('./rules.test.ts');
await import('./usage.test.ts');
