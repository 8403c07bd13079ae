import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { build } from 'esbuild';
import t from 'tap';
import { Parser, type Result } from 'tap-parser';
import { testTarget } from '../cli/testing/test-target.ts';
import { requirements } from '../spec/contract.ts';

const SCRIPT = join(t.testdir(), 'conformance.mjs');
await build({
  entryPoints: [join(import.meta.dirname, 'conformance.tap.ts')],
  bundle: true,
  platform: 'node',
  format: 'esm',
  packages: 'external',
  outfile: SCRIPT,
});

/** The points of a run by the id of their requirement, and what its subtest says. */
async function points(env: Readonly<Record<string, string>>) {
  const { PETSTORE_PROFILE: _profile, NODE_OPTIONS: _runner, TAP: _nested, ...usual } = process.env;
  const child = spawn(process.execPath, [SCRIPT], { env: { ...usual, ...env } });
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  const found = new Map<string, Result>();
  const inner = new Map<string, Result>();
  const parser = new Parser({ strict: true });
  const id = (name: string) => name.split(' ', 1)[0] ?? '';
  parser.on('assert', (point: Result) => found.set(id(point.name), point));
  parser.on('child', (child: Parser) =>
    child.on('assert', (point: Result) => inner.set(id(child.name), point)),
  );
  parser.end(output);
  return { code, found, inner, ok: parser.ok };
}

t.test('without a profile: the embedded server, every requirement a subtest that holds', async (t) => {
  const { code, ok, found } = await points({});
  t.equal(code, 0);
  t.ok(ok);
  const expected = requirements.flatMap(({ id, excluded }) => (excluded === undefined ? [id] : []));
  t.strictSame([...found.keys()].sort(), [...expected, 'the'].sort(), 'and one for the run as a whole');
  t.match(found.get('rate-day-free'), { ok: true, skip: 'needs the permission day' });
  t.match(found.get('rate-minute-free'), { ok: true, skip: false });
});

t.test('with a profile: that target, live; what breaks is not ok, with the evidence', async (t) => {
  const { profile, env } = await testTarget(t, { fault: 'filter-ignored', permit: [] });
  const { code, found, inner } = await points({ ...env, PETSTORE_PROFILE: profile });
  t.equal(code, 1);
  t.match(found.get('list-status-filter'), { ok: false });
  t.match(inner.get('list-status-filter'), {
    ok: false,
    diag: { curl: /^curl -i -H "Authorization: Bearer \$PETSTORE_/ },
  });
  t.match(found.get('add-answers-201'), { ok: true, skip: 'needs the permission writes' });
});
