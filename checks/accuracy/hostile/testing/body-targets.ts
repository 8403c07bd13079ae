import { brotliCompressSync, constants, createGzip, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { type Answer, onTheWire, withHeaders } from './good-answers.ts';
import { type Expected, failure, type HostileTarget, hostile, response } from './hostile-target.ts';

/** A target whose answers are correct except for the body. */
const spoils = (
  name: string,
  expected: Expected,
  spoil: (body: Buffer) => Buffer | Promise<Buffer>,
  coding?: string,
) =>
  hostile(name, expected, (answers) => ({
    async request(connection, request) {
      const good = await answers(request);
      const spoiled: Answer = { ...good, body: await spoil(good.body) };
      connection.write(
        onTheWire(coding === undefined ? spoiled : withHeaders(spoiled, [['Content-Encoding', coding]])),
      );
    },
  }));

/** A target that answers everything with this text. */
const says = (name: string, text: string | Buffer, expected: Expected = response({ status: 200 })) =>
  spoils(name, expected, () => Buffer.from(text));

const REX = response({ status: 200, body: /"Rex"/ });
const UNDECODABLE = response({ status: 200, bodyProblem: 'undecodable-encoding' });
const UNKNOWN_CODING = response({ status: 200, bodyProblem: 'unknown-encoding' });
const TOO_LARGE = failure('too-large', /larger than \d+ bytes when decompressed/);

const TOO_LARGE_AS_SENT = failure('too-large', /body is larger than 2097152 bytes/);

/** Size after decompression; compressed it is a thousand times smaller. */
const BOMB_BYTES = 64 * 1024 * 1024;

function gzipBomb(): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    const gzip = createGzip();
    gzip.on('data', (piece: Buffer) => pieces.push(piece));
    gzip.on('error', reject);
    gzip.on('end', () => resolve(Buffer.concat(pieces)));
    const zeros = Buffer.alloc(1024 * 1024);
    for (let sent = 0; sent < BOMB_BYTES; sent += zeros.length) gzip.write(zeros);
    gzip.end();
  });
}

const brotliBomb = async () =>
  brotliCompressSync(Buffer.alloc(BOMB_BYTES), { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } });

/**
 * A target that sends a decompression bomb. It is made in advance: on a busy machine that takes longer than an answer
 * may.
 */
function bombs(name: string, make: () => Promise<Buffer>, coding: string): HostileTarget {
  let made: Promise<Buffer> | undefined;
  const bomb = () => {
    made ??= make();
    return made;
  };
  const target = spoils(name, TOO_LARGE, bomb, coding);
  return {
    ...target,
    async start(upstream) {
      await bomb();
      return target.start(upstream);
    },
  };
}

const animal = (rest: string) => `{"id":1,"name":"Rex","categoryId":1,${rest}}`;

/** Targets whose bodies are encoded, broken or oversized; the meaning of the JSON is for the checks. */
export const bodyTargets: readonly HostileTarget[] = [
  spoils('compresses with gzip unasked', REX, (body) => gzipSync(body), 'gzip'),
  spoils('compresses with deflate', REX, (body) => deflateSync(body), 'deflate'),
  spoils('compresses with deflate without its frame', REX, (body) => deflateRawSync(body), 'deflate'),
  spoils('compresses with brotli', REX, (body) => brotliCompressSync(body), 'br'),
  spoils('compresses twice', REX, (body) => brotliCompressSync(gzipSync(body)), 'GZip, br'),
  bombs('sends a gzip bomb', gzipBomb, 'gzip'),
  bombs('sends a gzip bomb in a gzip bomb', async () => gzipSync(await gzipBomb()), 'gzip, gzip'),
  bombs('sends a brotli bomb', brotliBomb, 'br'),
  spoils('compresses a hundred times', UNKNOWN_CODING, (body) => body, Array(100).fill('gzip').join(', ')),
  spoils('breaks its gzip', UNDECODABLE, (body) => gzipSync(body).fill(0x55, 12), 'gzip'),
  spoils('cuts its gzip short', UNDECODABLE, (body) => gzipSync(body).subarray(0, -8), 'gzip'),
  spoils('says gzip and sends none', UNDECODABLE, (body) => body, 'gzip'),
  spoils('uses an unknown coding', UNKNOWN_CODING, (body) => body, 'rot13'),
  says(
    'sends invalid UTF-8',
    Buffer.from('[{"id":1,"name":"\xff\xfe\xc0\xaf"}]', 'latin1'),
    response({ bodyProblem: 'invalid-utf8' }),
  ),
  says(
    'sends half a character at the end',
    Buffer.from('["\xe7\x8a', 'latin1'),
    response({ bodyProblem: 'invalid-utf8' }),
  ),
  says('begins with a byte order mark', '\uFEFF[]', response({ body: /^\uFEFF\[\]$/ })),
  says('sends NUL', `[${animal('"x":"\u0000"')}]`, response({ body: /\0/ })),
  says(
    'sends half a surrogate pair',
    '[{"id":1,"name":"\\ud800","categoryId":1}]',
    response({ body: /ud800/ }),
  ),
  says(
    'sends 10 MB of animals',
    `[${Array(130_000).fill(animal('"status":"available","note":"aaaaaaaaaa"')).join(',')}]`,
    TOO_LARGE_AS_SENT,
  ),
  says(
    'sends 10 MB of one name',
    `[{"id":1,"name":"${'x'.repeat(10_000_000)}","categoryId":1}]`,
    TOO_LARGE_AS_SENT,
  ),
  says('sends 10 MB of escapes', `["${'\\u005c'.repeat(1_700_000)}"]`, TOO_LARGE_AS_SENT),
  says(
    'sends 2 MB of animals',
    `[${Array(21_000).fill(animal('"status":"available","note":"aaaaaaaaaa"')).join(',')}]`,
    failure('too-large', /more than 100000 values/),
  ),
  says(
    'sends 1 MB of animals',
    `[${Array(11_000).fill(animal('"status":"available","note":"aaaaaaaaaa"')).join(',')}]`,
  ),
  says('sends 2 MB of one name', `[{"id":1,"name":"${'\u00e9'.repeat(1_000_000)}","categoryId":1}]`),
  says('sends 2 MB of escapes', `["${'\\u005c'.repeat(340_000)}"]`),
  says('sends 20 MB', ' '.repeat(20_000_000), TOO_LARGE_AS_SENT),
  says('nests 100,000 deep', '['.repeat(100_000) + ']'.repeat(100_000)),
  says('sends __proto__', `[${animal('"__proto__":{"status":"sold"},"constructor":1')}]`),
  says('sends names twice', '[{"id":1,"id":2,"name":"Rex","name":"Max","categoryId":1}]'),
  says('sends 1e400', '[{"id":1e400,"name":"Rex","categoryId":1e999999999}]'),
  says('sends no body', '', response({ status: 200, body: /^$/ })),
  says('sends half of a JSON text', '[{"id":1,"na'),
  hostile('is a web page', response({ status: 200, body: /<html>/ }), () => ({
    request: (connection) => {
      const body = Buffer.from('<!DOCTYPE html><html><title>Sign in to the network</title></html>');
      connection.write(onTheWire({ status: 200, headers: [['Content-Type', 'text/html']], body }));
    },
  })),
];
