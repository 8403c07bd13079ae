import { join } from 'node:path';
import { inOneProcess } from '../../checks/testing/in-one-process.ts';

// In k6/ and beside this file programs are watched from their start to their end.
const folders = ['../build', '../lib', '../testing', 'capacity', 'compare', 'quota', 'result'];
await inOneProcess(...folders.map((folder) => join(import.meta.dirname, folder)));
