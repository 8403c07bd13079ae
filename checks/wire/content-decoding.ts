import zlib from 'node:zlib';

/** Why a body's content codings cannot be undone: the bytes are not what they say, nobody knows them, or too much comes. */
export type Undecoded = 'undecodable' | 'unknown' | 'too-large';

/** RFC 9110, 8.4.1.2: some senders of deflate leave out the zlib frame, which says first that deflate is in it. */
const isFramed = (bytes: Buffer) => ((bytes[0] ?? 0) & 0x0f) === 8;

const DECODERS: Readonly<Record<string, (bytes: Buffer, options: zlib.ZlibOptions) => Buffer>> = {
  gzip: zlib.gunzipSync,
  'x-gzip': zlib.gunzipSync,
  deflate: (bytes, options) =>
    isFramed(bytes) ? zlib.inflateSync(bytes, options) : zlib.inflateRawSync(bytes, options),
  br: zlib.brotliDecompressSync,
};

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
  const steps = names.flatMap((name) => (Object.hasOwn(DECODERS, name) ? (DECODERS[name] ?? []) : []));
  if (steps.length < names.length || names.length > MOST_CODINGS) return 'unknown';
  try {
    return steps.reduceRight((coded, decode) => decode(coded, { maxOutputLength }), bytes);
  } catch (error) {
    return error instanceof RangeError ? 'too-large' : 'undecodable';
  }
}
