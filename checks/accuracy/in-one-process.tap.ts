import { inOneProcess } from '../testing/in-one-process.ts';

await inOneProcess(import.meta.dirname);
