import zlib from 'node:zlib';

/** Why a body's content codings cannot be undone: the bytes are not what they say, nobody knows them, or too much comes. */
export type Undecoded = 'undecodable' | 'unknown' | 'too-large';

type Decoder = (bytes: Buffer, options: { maxOutputLength: number }) => Buffer;

const DECODERS = new Map<string, readonly Decoder[]>([
  ['gzip', [zlib.gunzipSync]],
  ['x-gzip', [zlib.gunzipSync]],
  // RFC 9110, 8.4.1.2: some senders leave out the zlib frame.
  ['deflate', [zlib.inflateSync, zlib.inflateRawSync]],
  ['br', [zlib.brotliDecompressSync]],
]);

/** Nobody needs more; more are an attack. */
const MOST_CODINGS = 3;

/**
 * Undoes the codings of Content-Encoding (RFC 9110, 8.4), last one first.
 *
 * @param codings the field's values, in order; `identity` and none mean that there is nothing to undo
 * @param maxOutputLength bound on each step's result, so that a small body cannot become a large one
 */
export function decodeContent(
  bytes: Buffer,
  codings: readonly string[],
  maxOutputLength: number,
): Buffer | Undecoded {
  const names = codings
    .flatMap((value) => value.split(','))
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '' && name !== 'identity');
  if (names.length > MOST_CODINGS) return 'unknown';
  let decoded = bytes;
  for (const name of names.reverse()) {
    const step = decodeOne(decoded, DECODERS.get(name), maxOutputLength);
    if (typeof step === 'string') return step;
    decoded = step;
  }
  return decoded;
}

function decodeOne(bytes: Buffer, decoders: readonly Decoder[] | undefined, maxOutputLength: number) {
  if (decoders === undefined) return 'unknown';
  for (const decode of decoders) {
    try {
      return decode(bytes, { maxOutputLength });
    } catch (error) {
      if (error instanceof RangeError) return 'too-large';
    }
  }
  return 'undecodable';
}
