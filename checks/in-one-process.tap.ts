import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { inOneProcess } from './testing/in-one-process.ts';

// accuracy/ has a process of its own, beside this one.
const entries = readdirSync(import.meta.dirname, { withFileTypes: true });
const folders = entries.filter((entry) => entry.isDirectory() && entry.name !== 'accuracy');
await inOneProcess(...folders.map(({ name }) => join(import.meta.dirname, name)));
await import('./check-target.test.ts');
await import('./conformance.tap.test.ts');
