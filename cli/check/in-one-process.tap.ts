import { inOneProcess } from '../../checks/testing/in-one-process.ts';

await inOneProcess(import.meta.dirname);
