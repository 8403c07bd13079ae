import { join } from 'node:path';
import { inOneProcess } from '../checks/testing/in-one-process.ts';

await inOneProcess(import.meta.dirname, join(import.meta.dirname, '../reference-server'));
