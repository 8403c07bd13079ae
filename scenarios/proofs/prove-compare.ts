/**
 * `npm run prove:compare [-- RUNS]`: runs against identical servers may give an alarm in at most 1 of 20 comparisons. A
 * server that is 10 % slower must be found in at least 19 of 20. Every comparison has servers and runs of its own.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CAPACITY_STEP } from '../lib/catalogue.ts';
import { compareBlocks } from '../runner/compare/compare-blocks.ts';
import { type K6Binary, provideK6 } from '../runner/k6/k6-binary.ts';
import { runLoad } from '../runner/load-run.ts';
import type { LoadResult } from '../runner/result/load-result.ts';
import { startKnownServer } from './known-capacity-server.ts';

const RATE = 25;
const SECONDS = 20;
const SERVICE_MS = 18;
const JITTER_MS = 3;
const TOLERANCE = 0.04;

async function measure(factor: number, k6: K6Binary): Promise<LoadResult> {
  const server = await startKnownServer(SERVICE_MS * factor, JITTER_MS * factor);
  const out = await mkdtemp(join(tmpdir(), 'prove-compare-'));
  try {
    return await runLoad({
      facts: CAPACITY_STEP,
      target: server,
      k6,
      out,
      rate: RATE,
      seconds: SECONDS,
      lists: 'plain',
    });
  } finally {
    server.close();
    await rm(out, { recursive: true, force: true });
  }
}

const runs = Number(process.argv[2] ?? 20);
const k6 = await provideK6((line) => process.stderr.write(`${line}\n`));
let [falseAlarms, found] = [0, 0];
for (let run = 1; run <= runs; run += 1) {
  const base = await measure(1, k6);
  const same = await measure(1, k6);
  const slower = await measure(1.1, k6);
  const identical = compareBlocks(base.series, same.series, { toleratedSlowdown: TOLERANCE });
  const changed = compareBlocks(base.series, slower.series, { toleratedSlowdown: TOLERANCE });
  const alarm = identical.findings.some((finding) => finding.alarm);
  const detected = changed.findings.some((finding) => finding.alarm);
  if (alarm) falseAlarms += 1;
  if (detected) found += 1;
  process.stdout.write(
    `${run}: identical ${alarm ? 'ALARM' : 'no alarm'} (${identical.findings[0]?.actual}); ` +
      `10 % slower ${detected ? 'found' : 'MISSED'} (${changed.findings[0]?.actual})\n`,
  );
}
const allowed = Math.floor(runs / 20);
const proved = falseAlarms <= allowed && found >= runs - allowed;
process.stdout.write(
  `${falseAlarms} alarms in ${runs} identical pairs, ${found} of ${runs} slower ones found: ${proved ? 'proved' : 'NOT proved'}\n`,
);
process.exitCode = proved ? 0 : 1;
