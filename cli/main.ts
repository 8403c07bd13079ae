#!/bin/sh
//usr/bin/env true; n=$(ulimit -n); test "$n" = unlimited || test "$n" -ge 32 || { echo 'error: too many open files: ulimit -n must allow 64' >&2; exit 3; }
//usr/bin/env true; exec node -- "$0" "$@"

// A shell runs the lines above. Without "--" Node would take --env-file for an option of its own; with fewer files its
// loader would end before a line of this program runs.
import { setFlagsFromString } from 'node:v8';
import { systemProblem } from '../checks/profile/file-text.ts';
import { main } from './program.ts';
import { EXIT } from './shared/exit-codes.ts';
import { failure } from './shared/failure.ts';

// Otherwise Node would keep hundreds of megabytes of garbage. A server under load is faster without this.
if (process.argv[2] !== 'serve') setFlagsFromString('--optimize-for-size');
let isFull = false;
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    // If the reader goes away (`| head`), or there is no room, the run goes on, as its results are still to be written.
    if (error.code === 'EPIPE' || isFull) return;
    isFull = true;
    process.stderr.write(`error: the output cannot be written: ${systemProblem(error) ?? error.message}\n`);
    // A run that goes on has an exit code of its own.
    process.once('exit', (code) => {
      if (code === 0) process.exitCode = EXIT.inconclusive;
    });
  });
}
process.on('uncaughtException', failure);

await main(process.argv.slice(2)).catch(failure);
