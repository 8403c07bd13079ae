/**
 * `npm run accuracy`: the whole suite against every fault of the reference server, every conforming variant of it, plain
 * and behind every disturbance, and services of Express, Fastify, Go and FastAPI, on simulated clocks. `--filter X` runs
 * what matches, and each conforming server restricted to the requirements that it breaks. `--sample N` runs some cases,
 * chosen by `--seed`. `--write` puts the matrix into MATRIX.md beside this file. Exits 1 unless every fault is found by
 * the requirement that it breaks, every requirement finds a fault, and no conforming server fails anything.
 */
import { fork } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { packageRoot } from '../../spec/package-root.ts';
import type { AccuracyCase, CaseResult } from './case.ts';
import { casesFor, sampleOf } from './cases.ts';
import { provide } from './framework-service.ts';
import { type Entry, matrixOf, spendsDay, titleOf } from './matrix.ts';

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
const queue = [...cases];
const entries: Entry[] = [];

/** Of each process, because a part of a case is waiting. */
const CASES_AT_A_TIME = 5;

/** A process that runs several cases at a time. */
function startWorker(): Promise<void> {
  return new Promise((resolve, reject) => {
    const worker = fork(fileURLToPath(new URL(`worker${extname(import.meta.url)}`, import.meta.url)), {
      // What a case makes is garbage soon: collected seldom, hardly any of it has to be moved.
      execArgv: [...process.execArgv, '--max-semi-space-size=64'],
    });
    const running = new Map<number, AccuracyCase>();
    let number = 0;
    const next = () => {
      const accuracyCase = queue.shift();
      if (accuracyCase === undefined) {
        if (running.size === 0 && worker.connected) worker.disconnect();
        return;
      }
      number += 1;
      running.set(number, accuracyCase);
      worker.send({ number, accuracyCase, only: asked.isWhole(accuracyCase) ? undefined : asked.only });
    };
    worker.on('message', (message: { readonly number: number; readonly result: CaseResult }) => {
      const accuracyCase = running.get(message.number);
      running.delete(message.number);
      if (accuracyCase !== undefined) entries.push({ case: accuracyCase, result: message.result });
      if (process.stderr.isTTY) process.stderr.write(`\r${entries.length} of ${cases.length} `);
      next();
    });
    worker.on('error', reject);
    worker.on('exit', (code) =>
      running.size === 0
        ? resolve()
        : reject(new Error(`a worker ended with ${code}, ${running.size} cases under way`)),
    );
    for (let index = 0; index < CASES_AT_A_TIME; index += 1) next();
  });
}

await Promise.all(Array.from({ length: availableParallelism() }, startWorker));

const matrix = matrixOf(entries, asked.checkable);
if (options.write) writeFileSync(new URL('checks/accuracy/MATRIX.md', packageRoot), matrix.text);
for (const left of asked.leftOut) say(`left out, ${left}`);
for (const problem of matrix.problems) say(problem);
const longest = entries
  .filter((entry) => !spendsDay(entry.case))
  .flatMap((entry) => ({ title: titleOf(entry.case), seconds: Math.round(entry.result.seconds ?? 0) }))
  .sort((a, b) => b.seconds - a.seconds);
const [median] = longest.slice(longest.length / 2);
const over = longest.filter(({ seconds }) => seconds > 300).length;
say(
  `longest by the run's clock: ${longest
    .slice(0, 3)
    .map(({ title, seconds }) => `${title} ${seconds} s`)
    .join('; ')}; ${over} of ${longest.length} over 300 s, half within ${median?.seconds} s`,
);
say(
  `${matrix.found} of ${matrix.faults} faults found by the requirement that they break; ${matrix.falseAlarms} false alarms on ${matrix.conforming} conforming servers, disturbed or not; ${Math.round((performance.now() - startedAt) / 1000)} s`,
);
process.exitCode = matrix.problems.length === 0 ? 0 : 1;
