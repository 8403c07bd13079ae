import { promisify } from 'node:util';
import zlib from 'node:zlib';

/** Why a body's content codings cannot be undone: the bytes are not what they say, nobody knows them, or too much comes. */
export type Undecoded = 'undecodable' | 'unknown' | 'too-large';

type Decoder = (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;

const gunzip: Decoder = promisify(zlib.gunzip);

const DECODERS = new Map<string, readonly Decoder[]>([
  ['gzip', [gunzip]],
  ['x-gzip', [gunzip]],
  // RFC 9110, 8.4.1.2: some senders leave out the zlib frame.
  ['deflate', [promisify(zlib.inflate), promisify(zlib.inflateRaw)]],
  ['br', [promisify(zlib.brotliDecompress)]],
]);

/** Nobody needs more; more are an attack. */
const MOST_CODINGS = 3;

/**
 * Undoes the codings of Content-Encoding (RFC 9110, 8.4), last one first.
 *
 * @param codings the field's values, in order; `identity` and none mean that there is nothing to undo
 * @param maxBytes bound on each step's result, so that a small body cannot become a large one
 */
export async function decodeContent(
  bytes: Buffer,
  codings: readonly string[],
  maxBytes: number,
): Promise<Buffer | Undecoded> {
  const names = codings
    .flatMap((value) => value.split(','))
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '' && name !== 'identity');
  if (names.length > MOST_CODINGS) return 'unknown';
  let decoded: Buffer | Undecoded = bytes;
  for (const name of names.reverse()) {
    const decoders = DECODERS.get(name);
    if (decoders === undefined) return 'unknown';
    decoded = await decodeOne(decoded, decoders, maxBytes);
    if (typeof decoded === 'string') return decoded;
  }
  return decoded;
}

async function decodeOne(
  bytes: Buffer,
  decoders: readonly Decoder[],
  maxBytes: number,
): Promise<Buffer | Undecoded> {
  for (const decode of decoders) {
    try {
      return await decode(bytes, { maxOutputLength: maxBytes });
    } catch (error) {
      if (error instanceof RangeError) return 'too-large';
    }
  }
  return 'undecodable';
}
