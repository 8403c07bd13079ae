import zlib from 'node:zlib';
import t from 'tap';
import { BodyBudget, decodeContent } from './response-body.ts';

const TEXT = '[{"id":1,"name":"Rex","categoryId":3}]';
const PLAIN = Buffer.from(TEXT);
const MOST = 1000;

const textOf = (bytes: Buffer, ...codings: string[]): string =>
  decodeContent(bytes, codings, MOST).toString();

t.test('each known coding is undone', async (t) => {
  t.equal(textOf(zlib.gzipSync(PLAIN), 'gzip'), TEXT);
  t.equal(textOf(zlib.gzipSync(PLAIN), 'x-gzip'), TEXT);
  t.equal(textOf(zlib.deflateSync(PLAIN), 'deflate'), TEXT);
  t.equal(textOf(zlib.brotliCompressSync(PLAIN), 'br'), TEXT);
});

t.test('deflate without its frame is read too', async (t) => {
  t.equal(textOf(zlib.deflateRawSync(PLAIN), 'deflate'), TEXT);
});

t.test('names are compared without case and spaces', async (t) => {
  t.equal(textOf(zlib.gzipSync(PLAIN), '  GZip '), TEXT);
});

t.test('nothing to undo', async (t) => {
  t.equal(textOf(PLAIN), TEXT);
  t.equal(textOf(PLAIN, 'identity'), TEXT);
  t.equal(textOf(PLAIN, '', 'Identity, ,'), TEXT);
});

t.test('several codings are undone from the last to the first, in one field or in several', async (t) => {
  const twice = zlib.brotliCompressSync(zlib.gzipSync(PLAIN));
  t.equal(textOf(twice, 'gzip, br'), TEXT);
  t.equal(textOf(twice, 'gzip', 'br'), TEXT);
  t.equal(textOf(twice, 'br, gzip'), 'undecodable');
  t.equal(textOf(zlib.deflateSync(twice), 'gzip,br,deflate'), TEXT);
});

t.test('a fourth coding is an attack', async (t) => {
  let bytes = PLAIN;
  for (let i = 0; i < 4; i += 1) bytes = zlib.gzipSync(bytes);
  t.equal(textOf(bytes, 'gzip, gzip, gzip, gzip'), 'unknown');
  t.equal(textOf(zlib.gunzipSync(bytes), 'gzip, gzip, gzip, identity'), TEXT);
});

t.test(
  'an unknown coding is a limit of the harness, apart from bytes that are not what they should be',
  async (t) => {
    for (const coding of ['gzip', 'deflate', 'br']) t.equal(textOf(PLAIN, coding), 'undecodable', coding);
    for (const coding of ['zstd', 'compress', 'aws-chunked', 'toString'])
      t.equal(textOf(PLAIN, coding), 'unknown', coding);
    t.equal(textOf(zlib.gzipSync(PLAIN), 'zstd, gzip'), 'unknown', 'behind one that is known');
    t.equal(textOf(zlib.gzipSync(PLAIN).subarray(0, -4), 'gzip'), 'undecodable', 'cut off');
    t.equal(textOf(Buffer.alloc(0), 'gzip'), 'undecodable', 'empty');
  },
);

t.test('a small body does not become a large one', async (t) => {
  const large = Buffer.alloc(MOST + 1, 'a');
  const fits = large.subarray(1);
  const codings = [
    ['gzip', zlib.gzipSync],
    ['deflate', zlib.deflateSync],
    ['deflate', zlib.deflateRawSync],
    ['br', zlib.brotliCompressSync],
  ] as const;
  for (const [coding, encode] of codings) {
    t.equal(textOf(encode(large), coding), 'too-large', coding);
    t.equal(textOf(encode(fits), coding), fits.toString(), coding);
  }
});

t.test('the bound holds for each step', async (t) => {
  const inner = zlib.gzipSync(Buffer.alloc(MOST + 1, 'a'));
  t.equal(textOf(zlib.gzipSync(inner), 'gzip, gzip'), 'too-large');
});

const KIB = 1024;
const MIB = 1024 * KIB;

t.test('one body: to its bound, and no byte further', async (t) => {
  const budget = new BodyBudget();
  t.equal(budget.refuse(2 * MIB, 10), undefined);
  t.equal(budget.refuse(2 * MIB + 1, 10), 'the body is larger than 2097152 bytes');
});

t.test('ordinary bodies are read without end, large ones until 24 MiB of them were', async (t) => {
  const budget = new BodyBudget();
  for (let read = 0; read < 1000; read += 1) budget.refuse(64 * KIB, 64 * KIB);
  for (let read = 0; read < 24; read += 1) t.equal(budget.refuse(MIB, MIB), undefined);
  t.match(budget.refuse(MIB, 1), /^the body is larger than 65536 bytes, and the run has read 24 MiB of such/);
  t.equal(budget.refuse(64 * KIB, 64 * KIB), undefined);
  t.equal(budget.mostDecoded, 64 * KIB, 'nor decompressed to more');
});

t.test('what a body becomes when decompressed counts as well', async (t) => {
  const budget = new BodyBudget();
  t.equal(budget.mostDecoded, 2 * MIB);
  for (let read = 0; read < 12; read += 1) budget.refuseDecoded(Buffer.alloc(2 * MIB, 0x20), 1000);
  t.ok(budget.mostDecoded < 80 * KIB, `${budget.mostDecoded}`);
});

t.test('bodies of many values, or of many objects over the run', async (t) => {
  const budget = new BodyBudget();
  const numbers = (count: number) => Buffer.from(`[${'0,'.repeat(count)}0]`);
  t.equal(budget.refuseDecoded(numbers(100_000), 200_003), undefined);
  t.equal(budget.refuseDecoded(numbers(100_001), 200_005), 'the body holds more than 100000 values');
  const objects = (count: number) => Buffer.from(`[${'{},'.repeat(count)}0]`);
  t.equal(budget.refuseDecoded(objects(30_000), 90_003), undefined);
  t.match(budget.refuseDecoded(objects(30_000), 90_003), /the run has read 30000 objects in such bodies$/);
  t.equal(budget.refuseDecoded(objects(9_000), 27_003), undefined, 'of an ordinary body nobody counts them');
  t.equal(budget.refuseDecoded(numbers(90_000), 180_003), undefined);
});
