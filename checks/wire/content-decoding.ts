import { promisify } from 'node:util';
import zlib from 'node:zlib';

/** What became of a body's content codings. */
export type Decoded =
  | { readonly kind: 'decoded'; readonly bytes: Buffer }
  /** The bytes are not what Content-Encoding says. */
  | { readonly kind: 'undecodable' }
  /** A coding that the harness does not know, or more of them than it undoes. */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'too-large' };

type Decoder = (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;

const gunzip: Decoder = promisify(zlib.gunzip);
const inflate: Decoder = promisify(zlib.inflate);
const inflateRaw: Decoder = promisify(zlib.inflateRaw);
const brotliDecompress: Decoder = promisify(zlib.brotliDecompress);

const DECODERS = new Map<string, readonly Decoder[]>([
  ['gzip', [gunzip]],
  ['x-gzip', [gunzip]],
  // RFC 9110, 8.4.1.2: some senders leave out the zlib frame.
  ['deflate', [inflate, inflateRaw]],
  ['br', [brotliDecompress]],
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
): Promise<Decoded> {
  const names = codings
    .flatMap((value) => value.split(','))
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '' && name !== 'identity');
  if (names.length > MOST_CODINGS) return { kind: 'unknown' };
  let decoded = bytes;
  for (const name of names.reverse()) {
    const decoders = DECODERS.get(name);
    if (decoders === undefined) return { kind: 'unknown' };
    const step = await decodeOne(decoded, decoders, maxBytes);
    if (step.kind !== 'decoded') return step;
    decoded = step.bytes;
  }
  return { kind: 'decoded', bytes: decoded };
}

async function decodeOne(bytes: Buffer, decoders: readonly Decoder[], maxBytes: number): Promise<Decoded> {
  for (const decode of decoders) {
    try {
      return { kind: 'decoded', bytes: await decode(bytes, { maxOutputLength: maxBytes }) };
    } catch (error) {
      if (error instanceof RangeError) return { kind: 'too-large' };
    }
  }
  return { kind: 'undecodable' };
}
