/** Keys reach k6 and nobody else. */
import { execFile } from 'node:child_process';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { scenarioNamed } from '../../lib/catalogue.ts';
import { runLoad } from '../load-run.ts';
import { k6, skip } from '../testing/brief-runs.ts';
import { startEmbeddedTarget } from './load-target.ts';

t.test('a key is in no file, not in the log, and in nobody’s argument list', { skip }, async (t) => {
  const out = join(t.testdir({}), 'out');
  const canary = 'canary-9b7e1f42d08c55aa';
  const facts = scenarioNamed('smoke');
  if (facts === undefined) throw new Error('no smoke');
  const embedded = await startEmbeddedTarget();
  const notes: string[] = [];
  let processes = '';
  try {
    // No key of the server's: every answer is a 401, also the preflight's, so the plan is made without it.
    const secrets = { ...embedded.secrets };
    const [loadKey] = embedded.keys.filter(({ roles }) => roles.includes('load'));
    const target = {
      ...embedded,
      keys: [
        ...embedded.keys,
        {
          name: 'canary',
          plan: 'enterprise' as const,
          env: 'PETSTORE_CANARY',
          roles: ['load'],
          perMinute: 1e6,
          perDay: 1e9,
        },
      ],
      secrets: { ...secrets, PETSTORE_CANARY: canary },
    };
    t.ok(loadKey);
    const run = runLoad({
      facts,
      target,
      k6,
      out,
      seconds: 3,
      rate: 40,
      graceSeconds: 0.5,
      k6Options: ['--http-debug=full'],
      note: (line) => notes.push(line),
    });
    const looking = setInterval(() => {
      execFile('ps', ['axww', '-o', 'args'], (_, stdout) => {
        processes += stdout;
      });
    }, 300);
    const result = await run;
    clearInterval(looking);
    t.match(result.total.statuses, { 401: Number }, 'the canary was sent');
  } finally {
    await embedded.close();
  }
  t.match(processes, /k6 run/);
  t.notMatch(processes, canary);
  t.notMatch(notes.join('\n'), canary);
  const files = await readdir(out, { recursive: true });
  for (const file of files) {
    const path = join(out, file);
    const facts = await stat(path);
    t.equal(facts.mode & 0o077, 0, `${file} is private`);
    if (facts.isFile()) t.notMatch(await readFile(path, 'utf8'), canary, file);
  }
});
