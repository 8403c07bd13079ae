/**
 * `npm run accuracy`: the whole suite against every fault of the reference server, every conforming variant of it, plain
 * and behind every disturbance, and services of Express, Fastify, Go and FastAPI, on simulated clocks. `--filter X` runs
 * what matches, and each conforming server restricted to the requirements that it breaks. `--sample N` runs some cases,
 * chosen by `--seed`. `--write` puts the matrix into MATRIX.md beside this file. Exits 1 unless every fault is found by
 * the requirement that it breaks, every requirement finds a fault, and no conforming server fails anything.
 */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { extname } from 'node:path';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { packageRoot } from '../../spec/package-root.ts';
import { casesFor, pairsWithout, sampleOf } from './cases.ts';
import { provide } from './framework-service.ts';
import { type Entry, matrixOf } from './matrix.ts';
import type { Work } from './worker.ts';

const { values: options } = parseArgs({
  options: {
    filter: { type: 'string' },
    sample: { type: 'string' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    write: { type: 'boolean', default: false },
  },
});
const say = (line: string) => process.stdout.write(`${line}\n`);

const startedAt = performance.now();
const asked =
  options.sample === undefined
    ? casesFor(options.filter === undefined ? undefined : new RegExp(options.filter))
    : sampleOf(Number(options.sample), Number(options.seed));
if (options.sample !== undefined) say(`seed ${options.seed}`);
const notProvided = await provide(asked.cases.flatMap((one) => (one.kind === 'service' ? [one.name] : [])));
for (const [service, problem] of notProvided) say(`skipped, ${service}: ${problem}`);
const cases = asked.cases.filter((one) => one.kind !== 'service' || !notProvided.has(one.name));
const entries: Entry[] = [];

/** A thread that runs some of the cases. */
async function runWorker(work: Work): Promise<void> {
  const worker = new Worker(new URL(`worker${extname(import.meta.url)}`, import.meta.url), {
    workerData: work,
    // What a case makes is garbage soon: collected seldom, hardly any of it has to be moved.
    resourceLimits: { maxYoungGenerationSizeMb: 192 },
  });
  worker.on('message', (entry: Entry) => {
    entries.push(entry);
    if (process.stderr.isTTY) process.stderr.write(`\r${entries.length} of ${cases.length} `);
  });
  const [code]: number[] = await once(worker, 'exit');
  if (code !== 0) throw new Error(`a thread ended with ${code}`);
}

const work = { cases, next: new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)) };
await Promise.all(Array.from({ length: availableParallelism() }, () => runWorker(work)));

const matrix = matrixOf(entries, asked.checkable);
if (options.write) writeFileSync(new URL('checks/accuracy/MATRIX.md', packageRoot), matrix.text);
for (const left of pairsWithout(cases)) say(`left out, ${left}`);
for (const problem of matrix.problems) say(problem);
say(
  `${matrix.found} of ${matrix.faults} faults found by the requirement that they break; ${matrix.falseAlarms} false alarms on ${matrix.conforming} conforming servers, disturbed or not; ${Math.round((performance.now() - startedAt) / 1000)} s`,
);
process.exitCode = matrix.problems.length === 0 ? 0 : 1;
