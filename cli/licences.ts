/**
 * `npm run licences`: the packages that the harness runs with, a line each, and under which licence. Reads what
 * `npm query .prod` prints; exits with 1 where a package names no licence.
 */
import { text } from 'node:stream/consumers';
import { Ajv } from 'ajv';

interface InstalledPackage {
  readonly name: string;
  readonly version: string;
  readonly license?: unknown;
}

const isPackageList = new Ajv({ strict: true }).compile<InstalledPackage[]>({
  type: 'array',
  minItems: 1,
  items: {
    type: 'object',
    required: ['name', 'version'],
    properties: { name: { type: 'string' }, version: { type: 'string' }, license: {} },
  },
});

const list: unknown = JSON.parse(await text(process.stdin));
if (!isPackageList(list)) throw new TypeError('this is not what `npm query .prod` prints');

const rows = new Map(
  list.map(({ name, version, license }) => [
    `${name}@${version}`,
    typeof license === 'string' ? license : 'not named',
  ]),
);
const width = Math.max(...[...rows.keys()].map((name) => name.length));
for (const [name, licence] of [...rows].sort(([a], [b]) => a.localeCompare(b))) {
  process.stdout.write(`${name.padEnd(width)}  ${licence}\n`);
}
const unnamed = [...rows].filter(([, licence]) => licence === 'not named').map(([name]) => name);
process.stderr.write(`${rows.size} packages\n`);
if (unnamed.length > 0) {
  process.stderr.write(`without a licence in their package.json: ${unnamed.join(', ')}\n`);
  process.exitCode = 1;
}
