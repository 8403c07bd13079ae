import { readFileSync } from 'node:fs';
import t from 'tap';
import { parse } from 'yaml';
import { startReferenceServer } from '../../reference-server.ts';
import { FAULTS, LOAD_FAULTS } from './index.ts';

const ALL = [...FAULTS, ...LOAD_FAULTS];

// The one place where the server's folder looks at the rows: faults name them by id, and an id may not be mistyped.
const rows: unknown = parse(
  readFileSync(new URL('../../../spec/requirements.yaml', import.meta.url), 'utf8'),
);

function requirements(): { id: string; level: string; excluded: boolean }[] {
  const list = typeof rows === 'object' && rows !== null && 'requirements' in rows ? rows.requirements : [];
  if (!Array.isArray(list)) throw new Error('no requirements');
  return list.map((row: unknown) => {
    const { id, level, excluded } = Object(row) as Record<string, unknown>;
    return { id: String(id), level: String(level), excluded: excluded !== undefined };
  });
}

t.test('there are at least 160 faults, each with a name of its own', async (t) => {
  t.ok(FAULTS.length >= 160, String(FAULTS.length));
  t.equal(new Set(ALL.map(({ name }) => name)).size, ALL.length);
  t.same(
    ALL.filter(({ name }) => !/^[a-z][a-z0-9-]+$/.test(name)),
    [],
  );
  t.same(
    ALL.filter(({ summary }) => !/^[A-Z].+\.$/.test(summary) && !/^[a-zA-Z].+\.$/.test(summary)),
    [],
  );
});

t.test('every fault names a requirement that exists and can be checked', async (t) => {
  const known = new Set(requirements().flatMap(({ id, excluded }) => (excluded ? [] : [id])));
  t.same(
    ALL.filter(({ breaks }) => !known.has(breaks)).map(({ name, breaks }) => `${name}: ${breaks}`),
    [],
  );
});

t.test('every requirement that a server can break is broken by a fault', async (t) => {
  const broken = new Set(FAULTS.map(({ breaks }) => breaks));
  // What a server may do it may also leave: nothing breaks a MAY.
  const breakable = requirements().filter(({ level, excluded }) => level === 'MUST' && !excluded);
  t.same(
    breakable.filter(({ id }) => !broken.has(id)).map(({ id }) => id),
    [],
  );
});

t.test('a server with any one fault starts and answers', async (t) => {
  for (const { name } of ALL) {
    const server = await startReferenceServer({ fault: name, animals: 30 });
    const response = await fetch(`${server.baseUrl}/pets?limit=3`, {
      headers: { authorization: `Bearer ${server.keys[0]?.value}` },
      redirect: 'manual',
    }).catch((error: unknown) => error);
    t.ok(response instanceof Response || name === 'gzip-not-applied', name);
    if (response instanceof Response) await response.arrayBuffer().catch(() => null);
    await server.close();
  }
});
