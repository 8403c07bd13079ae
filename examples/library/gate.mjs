// A custom gate. Run `node gate.mjs` with the address in PETSTORE_TARGET and the key in PETSTORE_FREE_KEY.
import { check } from 'petstore-harness';

const report = await check({
  target: process.env.PETSTORE_TARGET,
  keys: [{ plan: 'free', value: process.env.PETSTORE_FREE_KEY }],
  only: ['4.1'],
  signal: AbortSignal.timeout(10 * 60_000),
});
for (const { id, verdict, reason } of report.requirements)
  if (verdict === 'fail') console.log(`${id}: ${reason}`);
process.exitCode = report.verdict === 'conformant' ? 0 : 1;
