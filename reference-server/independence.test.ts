import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';

t.test(
  'the server is a reading of its own: it imports Node, itself and a finder of near names',
  async (t) => {
    const files = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' });
    // Tests look at the contract, and the bench at other servers.
    const modules = files.filter((file) => /^(?!bench\/).*(?<!\.test)\.ts$/.test(file));
    t.ok(modules.includes('server.ts') && modules.includes('deviations/when.ts'));
    for (const file of modules) {
      const text = readFileSync(join(import.meta.dirname, file), 'utf8');
      for (const [, name = ''] of text.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*'([^']+)'/g)) {
        const isOwn = name.startsWith('.') && !join(dirname(file), name).startsWith('..');
        t.ok(isOwn || name.startsWith('node:') || name === 'leven', `${file}: ${name}`);
      }
    }
  },
);
