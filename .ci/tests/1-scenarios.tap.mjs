import { inOneProcess } from './in-one-process.mjs';
// k6 is looked for before a test changes the environment: in CI none may be skipped.
import '../../scenarios/runner/testing/brief-runs.ts';

await inOneProcess('scenarios', 'scenarios/simulated.test.ts');
