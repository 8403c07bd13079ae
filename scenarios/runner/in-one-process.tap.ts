import { join } from 'node:path';
import { inOneProcess } from '../../checks/testing/in-one-process.ts';

const beside = ['build', 'lib', 'testing'].map((folder) => join(import.meta.dirname, '..', folder));
await inOneProcess(...beside, import.meta.dirname);
