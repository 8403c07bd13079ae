import zlib from 'node:zlib';
import t, { type Test } from 'tap';
import type { Exchange } from './exchange.ts';
import { answersWith, clientOf, LIST, RECORD, serve } from './testing/test-client.ts';

/** What becomes of a response with these bytes as its body. */
async function read(t: Test, body: Buffer, coding?: string): Promise<Exchange['outcome']> {
  const head = [
    'HTTP/1.1 200 OK',
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    ...(coding === undefined ? [] : [`Content-Encoding: ${coding}`]),
  ];
  const server = await serve(
    t,
    answersWith(Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body])),
  );
  return (await clientOf(t, server).exchange(LIST, RECORD)).outcome;
}

t.test('a body in a content coding is read decoded, and is as large as it is then', async (t) => {
  const outcome = await read(t, zlib.gzipSync('["犬"]'), 'gzip');
  t.match(outcome, { kind: 'response', status: 200, body: '["犬"]', bodyBytes: 7 });
  t.notOk('bodyProblem' in outcome);
});

t.test('what cannot be decoded is a response with a problem, its bytes as they came', async (t) => {
  t.match(await read(t, Buffer.from('[1]'), 'zstd'), {
    kind: 'response',
    status: 200,
    body: '[1]',
    bodyBytes: 3,
    bodyProblem: 'unknown-encoding',
  });
  t.match(await read(t, Buffer.of(0xff), 'gzip'), { bodyProblem: 'undecodable-encoding' });
});

t.test('a body that is too large only when decompressed is no response', async (t) => {
  t.match(await read(t, zlib.gzipSync('x'.repeat(2 ** 21 + 1)), 'gzip'), {
    kind: 'failure',
    reason: 'too-large',
    message: 'the body is larger than 2097152 bytes when decompressed',
  });
  t.match(await read(t, zlib.gzipSync('x'.repeat(2 ** 21)), 'gzip'), {
    kind: 'response',
    bodyBytes: 2 ** 21,
  });
});

t.test('a body of more values than the memory should take is no response', async (t) => {
  t.match(await read(t, Buffer.from(`[${'1,'.repeat(100_001)}1]`)), {
    kind: 'failure',
    reason: 'too-large',
    message: 'the body holds more than 100000 values',
  });
});

t.test('bytes that are no UTF-8 are replaced, and the record says so', async (t) => {
  t.match(await read(t, Buffer.concat([Buffer.from('["Caf'), Buffer.of(0xe9), Buffer.from('"]')])), {
    kind: 'response',
    body: '["Caf\ufffd"]',
    bodyBytes: 8,
    bodyProblem: 'invalid-utf8',
  });
});

t.test('a byte order mark stays in the text: RFC 8259, 8.1 forbids it', async (t) => {
  const marked = Buffer.from('\ufeff[]');
  const outcome = await read(t, marked);
  t.match(outcome, { kind: 'response', body: '\ufeff[]', bodyBytes: 5 });
  t.notOk('bodyProblem' in outcome, 'it is UTF-8');
  t.match(await read(t, Buffer.concat([marked, Buffer.of(0xff)])), {
    body: '\ufeff[]\ufffd',
    bodyProblem: 'invalid-utf8',
  });
});
