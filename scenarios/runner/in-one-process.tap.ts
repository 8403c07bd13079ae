import { join } from 'node:path';
import { inOneProcess } from '../../checks/testing/in-one-process.ts';
// k6 is looked for before a test changes the environment: in CI none may be skipped.
import './testing/brief-runs.ts';

const beside = ['build', 'lib', 'testing'].map((folder) => join(import.meta.dirname, '..', folder));
await inOneProcess(...beside, import.meta.dirname);
