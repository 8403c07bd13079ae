import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import t from 'tap';
import { limitsFor, SHORT_LIMITS } from './testing/hostile-target.ts';
import { hostileTargets } from './testing/hostile-targets.ts';

/** In MB, of the whole process: about 60 of it are Node's and the client's code. */
const MOST_MEMORY = 300;

const BIG = [
  'sends headers without end',
  'sends a status line without end',
  'sends a body without end, in chunks',
  'sends a body without end, until it closes',
  'sends a gzip bomb',
  'sends a gzip bomb in a gzip bomb',
  'sends a brotli bomb',
  'sends 10 MB of animals',
  'sends 10 MB of one name',
  'sends 10 MB of escapes',
  'sends 20 MB',
  'nests 100,000 deep',
];

// Compiled, so that the compiler's memory is not taken for the client's.
const script = join(t.testdir({}), 'one-exchange.mjs');
await build({
  entryPoints: [join(import.meta.dirname, 'testing', 'one-exchange.ts')],
  outfile: script,
  bundle: true,
  platform: 'node',
  format: 'esm',
  packages: 'external',
});

for (const name of BIG) {
  t.test(`memory for a target that ${name}`, async (t) => {
    const target = hostileTargets.find((candidate) => candidate.name === name);
    if (target === undefined) throw new Error('no such target');
    const running = await target.start();
    t.teardown(() => running.close());
    const limits = limitsFor(target) === SHORT_LIMITS ? 'short' : 'ample';
    const arguments_ = [script, running.url, limits];
    // Without what the test runner puts into the environment for its own processes.
    const { stdout } = await promisify(execFile)(process.execPath, arguments_, { env: {} });
    const seen: unknown = JSON.parse(stdout);
    const { kind } = target.expected;
    t.match(
      seen,
      name === 'sends a status line without end' ? { reason: 'headers-timeout' } : { kind },
      stdout,
    );
    const megabytes =
      typeof seen === 'object' && seen !== null && 'megabytes' in seen ? Number(seen.megabytes) : Number.NaN;
    t.ok(megabytes < MOST_MEMORY, `${megabytes} MB`);
  });
}
