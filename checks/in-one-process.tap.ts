import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { inOneProcess } from './testing/in-one-process.ts';

// accuracy/ starts servers and processes.
const folders = readdirSync(import.meta.dirname, { withFileTypes: true }).filter(
  (entry) => entry.isDirectory() && entry.name !== 'accuracy',
);
await inOneProcess(...folders.map(({ name }) => join(import.meta.dirname, name)));
