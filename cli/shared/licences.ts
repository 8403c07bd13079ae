/**
 * `npm run licences`: the packages that the harness runs with, a line each, and under which licence. Reads what
 * `npm query .prod` prints; exits with 1 where a package names no licence.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Ajv } from 'ajv';

interface InstalledPackage {
  readonly name: string;
  readonly version: string;
  readonly path: string;
  readonly license?: unknown;
}

const isPackageList = new Ajv({ strict: true }).compile<InstalledPackage[]>({
  type: 'array',
  minItems: 1,
  items: {
    type: 'object',
    required: ['name', 'version', 'path'],
    properties: {
      name: { type: 'string' },
      version: { type: 'string' },
      path: { type: 'string' },
      license: {},
    },
  },
});

const list: unknown = JSON.parse(await text(process.stdin));
if (!isPackageList(list)) throw new TypeError('this is not what `npm query .prod` prints');

const NOT_NAMED = 'not named';

/** As package.json says it, else the title of the licence's own file. */
function licenceOf({ license, path }: InstalledPackage): string {
  if (typeof license === 'string') return license;
  const file = readdirSync(path).find((name) => /^licen[cs]e(\.(md|txt))?$/i.test(name));
  const title =
    file === undefined ? '' : (readFileSync(join(path, file), 'utf8').trim().split('\n')[0] ?? '');
  return title === '' ? NOT_NAMED : `${title} (${file})`;
}

const rows = new Map(
  list.map((installed) => [`${installed.name}@${installed.version}`, licenceOf(installed)]),
);
const width = Math.max(...[...rows.keys()].map((name) => name.length));
for (const [name, licence] of [...rows].sort(([a], [b]) => a.localeCompare(b))) {
  process.stdout.write(`${name.padEnd(width)}  ${licence}\n`);
}
const unnamed = [...rows].filter(([, licence]) => licence === NOT_NAMED).map(([name]) => name);
process.stderr.write(`${rows.size} packages\n`);
if (unnamed.length > 0) {
  process.stderr.write(`without a licence: ${unnamed.join(', ')}\n`);
  process.exitCode = 1;
}
