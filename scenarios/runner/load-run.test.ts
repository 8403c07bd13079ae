/** What k6 is started with: its options, its environment, its plan. A shell script stands in for it. */
import { chmod, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { assertAnsweredAsStored } from '../../checks/testing/answered-as-stored.ts';
import type { Access } from '../../checks/wire/access.ts';
import type { LoadRun } from './load-run.ts';
import { runAt, targetThat } from './testing/brief-runs.ts';

/** A load as the name of a stored text has it, and what the stand-in does then. */
interface Asked extends Partial<Omit<LoadRun, 'facts' | 'target' | 'k6' | 'out'>> {
  readonly access?: Partial<Omit<Access, 'proxy'>>;
  readonly isBehindProxy?: boolean;
  readonly does?: string;
}

t.test('k6 is started as stored', async (t) => {
  const target = await targetThat(t, (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json', date: 'Mon, 01 Jun 2026 12:00:00 GMT' });
    response.end('[{"id":1,"name":"Rex","categoryId":7}]');
  });
  const { env } = process;
  process.env = { PATH: env['PATH'], TAP_SNAPSHOT: env['TAP_SNAPSHOT'], A_PASSWORD: 'for nobody' };
  t.teardown(() => {
    process.env = env;
  });
  const root = t.testdir({});
  let runs = 0;
  await assertAnsweredAsStored(t, join(import.meta.dirname, 'testing', 'starts.txt'), async (asked) => {
    runs += 1;
    const { access, isBehindProxy, does = '', ...more }: Asked = JSON.parse(asked);
    const out = join(root, `run-${runs}`);
    const path = join(root, `k6-${runs}`);
    // The runner of tests gives each process NODE_OPTIONS.
    const noted = `{ echo "$*"; env | grep -vE '^(PATH|PWD|SHLVL|_|OLDPWD|NODE_OPTIONS)=' | sort; } > ${out}/started.$$`;
    await writeFile(path, `#!/bin/sh\n${noted}\n${does}\n`);
    await chmod(path, 0o755);
    const proxy = isBehindProxy === true ? { proxy: new URL(target.address) } : {};
    const own = { ...target, access: { ...target.access, ...access, ...proxy } };
    const [key] = target.keys;
    const keys = [1, 2].flatMap((place) => (key === undefined ? [] : { ...key, name: `load-${place}` }));
    const notes: string[] = [];
    const load = { ...more, k6: { path, version: '2.0.0' }, note: (line: string) => void notes.push(line) };
    const { verdict, generator, run } = await runAt({ ...own, keys }, out, 'mixed', load);
    const files = (await readdir(out, { recursive: true })).sort();
    const started = files.filter((name) => name.startsWith('started.'));
    const texts = await Promise.all(started.map((name) => readFile(join(out, name), 'utf8')));
    const plan = JSON.parse(await readFile(join(out, 'k6', 'plan.json'), 'utf8'));
    const { base, headers, samples, turns, options } = plan;
    const told = { base, headers, samples, turns, hosts: options.hosts, at: plan.clock.at };
    const ended = { verdict, exit: run.k6ExitCode, k6: run.k6Version, errors: generator.errorLines, notes };
    const rest = files.filter((name) => !name.startsWith('started.'));
    return [...texts.sort(), JSON.stringify(told), JSON.stringify(ended), rest.join(' ')]
      .join('\n')
      .replaceAll(out, 'OUT')
      .replaceAll(new URL(target.address).port, 'PORT');
  });
});
