/** k6's oracle on answers that are right and wrong, bundled as k6 gets it. */
import { join } from 'node:path';
import { build } from 'esbuild';
import t from 'tap';
import { contractPlugin } from '../build/bundle.ts';
import type { Breach } from './oracle.ts';

const NOW = 1_800_000_000_000;
const KEY = { name: 'k', plan: 'pro', env: 'K', perMinute: 300, perDay: 10_000 };

interface Oracle {
  bodyBreach(text: string, status: number, headers: object, asked: object): Breach | undefined;
  rateHeaderBreach(
    headers: object,
    status: number,
    key: object | undefined,
    now: number,
    known: object,
  ): Breach | undefined;
  unknownHeaders(): object;
  idsIn(text: string): string[];
}

async function load(): Promise<Oracle> {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, 'oracle.ts')],
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    write: false,
    plugins: [contractPlugin],
    // k6 reads the plan from the file beside the script.
    banner: { js: `const open = () => '{"clock":{"from":${NOW},"at":${NOW},"speed":1},"keys":[]}';` },
  });
  const source = Buffer.from(outputFiles[0]?.contents ?? []).toString('base64');
  return import(`data:text/javascript;base64,${source}`);
}

const oracle = await load();
const JSON_TYPE = { 'Content-Type': 'application/json; charset=utf-8' };
const rex = { id: 1, name: 'Rex', categoryId: 7, status: 'sold' };
const list = { operation: 'listPets' };

function broken(body: unknown, asked: object, status = 200, headers: object = JSON_TYPE): string | undefined {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return oracle.bodyBreach(text, status, headers, asked)?.requirement;
}

t.test('lists', async (t) => {
  t.equal(broken([rex, { ...rex, id: 2, status: undefined, owner: { id: 1 } }], list), undefined);
  t.equal(broken([rex], list, 200, {}), 'media-type-json');
  t.equal(broken('[', list), 'json-well-formed');
  t.equal(broken([{ ...rex, name: 1 }], list), 'list-pet-schema');
  t.equal(broken([rex, rex], list), 'list-each-once');
  const many = Array.from({ length: 21 }, (_, index) => ({ ...rex, id: index }));
  t.equal(broken(many, list), 'list-limit-default');
  t.equal(broken(many, { ...list, limit: 20 }), 'list-limit-maximum');
  t.equal(broken(many, { ...list, limit: 21 }), undefined);
  t.equal(broken([rex], { ...list, status: 'pending' }), 'list-status-filter');
});

t.test('a body that was right is remembered for what was asked, and no other', async (t) => {
  const sold = { ...list, status: 'sold' };
  const pending = { ...list, status: 'pending' };
  const text = JSON.stringify([rex]);
  t.equal(broken(text, sold), undefined);
  t.equal(broken(text, pending), 'list-status-filter');
  t.equal(broken('[]', pending), undefined);
  t.equal(broken(text, sold, 200, { 'Content-Type': 'text/plain' }), 'media-type-json');
  t.equal(broken([{ ...rex, name: 1 }], sold), 'list-pet-schema');
});

t.test('ids keep every digit', async (t) => {
  const animals = (...ids: string[]) =>
    `[${ids.map((id) => `{"id":${id},"name":"Rex","categoryId":7}`).join(',')}]`;
  const close = animals('9007199254740992', '9007199254740993');
  t.equal(broken(close, list), undefined, 'two that JSON.parse takes for one');
  t.equal(broken(animals('9223372036854775808'), list), 'list-pet-schema', 'beyond int64');
  t.strictSame(oracle.idsIn(close), ['9007199254740992', '9007199254740993']);
  t.strictSame(oracle.idsIn('<html>'), []);
  const get = { operation: 'getPet', id: '9007199254740993' };
  t.equal(broken('{"id":9007199254740992,"name":"Rex","categoryId":7}', get), 'get-returns-requested-id');
  t.equal(broken('{"id":9007199254740993,"name":"Rex","categoryId":7}', get), undefined);
});

t.test('additions and errors', async (t) => {
  const asked = { operation: 'createPet', name: 'Rex', categoryId: '7', status: 'sold' };
  t.equal(broken(rex, asked, 201), undefined);
  t.equal(broken({ ...rex, id: '1' }, asked, 201), 'add-pet-schema');
  t.equal(broken({ ...rex, name: 'rex' }, asked, 201), 'add-echoes-name');
  t.equal(broken({ ...rex, categoryId: 8 }, asked, 201), 'add-echoes-category-id');
  t.equal(broken({ ...rex, status: 'available' }, asked, 201), 'add-echoes-status');
  const error = { code: 'x', message: 'y', status: 404 };
  t.equal(broken(error, { operation: 'getPet', id: '1' }, 404), undefined);
  t.equal(broken({ ...error, status: 400 }, list, 404), 'error-status-matches');
  t.equal(broken({ code: 'x' }, list, 503), 'error-body-other');
});

const headers = (limit: string, remaining: string, reset = String(NOW / 1000 + 30)) => ({
  'X-Ratelimit-Limit': limit,
  'X-Ratelimit-Remaining': remaining,
  'X-Ratelimit-Reset': reset,
});

t.test('rate headers', async (t) => {
  const judge = (given: object, status = 200) =>
    oracle.rateHeaderBreach(given, status, KEY, NOW, oracle.unknownHeaders())?.requirement;
  t.equal(judge(headers('300', '5')), undefined);
  t.equal(judge(headers('300, 300', '5')), undefined, 'twice the same');
  t.equal(judge({}, 404), 'rate-headers-on-404');
  t.equal(judge({}, 500), 'rate-headers-on-other');
  t.equal(judge(headers('60', '5')), 'rate-limit-value');
  t.equal(judge(headers('300', '301')), 'rate-remaining-value');
  t.equal(judge(headers('300', '5e0')), 'rate-remaining-value');
  t.equal(judge(headers('300', '5', String(NOW / 1000 - 4))), 'rate-reset-value');
  t.equal(judge(headers('300', '5', String(NOW))), 'rate-reset-value', 'milliseconds');
  t.equal(judge(headers('10000', '5'), 429), 'retry-after-present');
  t.equal(judge({ ...headers('10000', '5'), 'Retry-After': '1' }, 429), undefined, 'the day is shown');
});

t.test('what was right is right again, as long as it says the same', async (t) => {
  const known = oracle.unknownHeaders();
  const judge = (given: object, now = NOW) =>
    oracle.rateHeaderBreach(given, 200, KEY, now, known)?.requirement;
  t.equal(judge(headers('300', '5')), undefined);
  t.equal(judge(headers('300', '4')), undefined);
  t.equal(judge(headers('300', '4', '1')), 'rate-reset-value', 'another Reset');
  t.equal(judge(headers('300', '301')), 'rate-remaining-value', 'more than the limit');
  t.equal(judge(headers('300', '5e0')), 'rate-remaining-value', 'not spelled as a number is');
  t.equal(judge(headers('300', '4'), NOW + 34_000), 'rate-reset-value', 'a Reset that has passed');
});
