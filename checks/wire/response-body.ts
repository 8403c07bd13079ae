/** How a response's body is read: bounded, its content codings undone, as text without keys. */
import { isUtf8 } from 'node:buffer';
import zlib from 'node:zlib';
import type { WireResponse } from './connections.ts';
import { type FailureOutcome, headerValues, type ResponseOutcome } from './exchange.ts';
import type { Redact } from './redaction.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

/** 20 kB for each animal of the longest list (section 8). */
export const LARGEST_BODY = 2 * MIB;
/** Bodies up to here are always read: they are as many as the run's requests, and most of them are not kept. */
const ORDINARY = 64 * KIB;
/** What a run reads beyond the ordinary, all bodies together: exchanges are kept in memory until the run is judged. */
const ALLOWANCE = 24 * MIB;
/** The longest list has four fields for each of 100 animals; parsed, a value takes some fifty times its comma. */
const MOST_COMMAS = 100_000;
/** Objects in all bodies beyond the ordinary together, which checks keep as animals: the lists of a run have 10,000. */
const OBJECTS_ALLOWED = 40_000;

const COMMA = 0x2c;
const BRACE = 0x7b;

/** Bounds what a run reads of its target's bodies, so that no target can take the machine's memory. */
export class BodyBudget {
  #spent = 0;
  #objects = 0;

  /**
   * Takes a piece of a body into account.
   *
   * @param total bytes of the body with this piece
   * @returns why it is not read, in one line, or undefined
   */
  refuse(total: number, piece: number): string | undefined {
    if (total > LARGEST_BODY) return `the body is larger than ${LARGEST_BODY} bytes`;
    if (total <= ORDINARY) return undefined;
    if (this.#spent + piece > ALLOWANCE) {
      return `the body is larger than ${ORDINARY} bytes, and the run has read ${ALLOWANCE / MIB} MiB of such bodies`;
    }
    this.#spent += piece;
    return undefined;
  }

  /** How many bytes a body of `length` bytes on the wire may become when decompressed. */
  get mostDecoded(): number {
    return Math.min(LARGEST_BODY, ORDINARY + ALLOWANCE - this.#spent);
  }

  /** Why a decompressed body is not parsed, in one line, or undefined. */
  refuseDecoded(bytes: Uint8Array, lengthOnTheWire: number): string | undefined {
    if (bytes.length <= ORDINARY) return undefined;
    this.#spent += Math.max(0, bytes.length - lengthOnTheWire);
    if (count(bytes, COMMA) > MOST_COMMAS) return `the body holds more than ${MOST_COMMAS} values`;
    const objects = count(bytes, BRACE);
    if (this.#objects + objects > OBJECTS_ALLOWED) {
      return `the body is larger than ${ORDINARY} bytes, and the run has read ${this.#objects} objects in such bodies`;
    }
    this.#objects += objects;
    return undefined;
  }
}

function count(bytes: Uint8Array, byte: number): number {
  let found = 0;
  for (let at = bytes.indexOf(byte); at !== -1; at = bytes.indexOf(byte, at + 1)) found += 1;
  return found;
}

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
 * @returns also why they cannot be undone: the bytes are not what they say, nobody knows them, or too much comes
 */
export function decodeContent(
  bytes: Buffer,
  codings: readonly string[],
  maxOutputLength: number,
): Buffer | 'undecodable' | 'unknown' | 'too-large' {
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

/** A byte order mark stays in the text: whether it may be there is a check's question. */
const UTF_8 = new TextDecoder('utf-8', { ignoreBOM: true });

/** The response with its body as text, or why that is not read. */
export function readResponse(
  { status, headers, bytes: coded, isHttp2 }: WireResponse & { readonly isHttp2?: boolean },
  budget: BodyBudget,
  redact: Redact,
): ResponseOutcome | FailureOutcome {
  const tooLarge = (message: string) => ({ kind: 'failure', reason: 'too-large', message }) as const;
  const most = budget.mostDecoded;
  const decoded = decodeContent(coded, headerValues(headers, 'content-encoding'), most);
  if (decoded === 'too-large') return tooLarge(`the body is larger than ${most} bytes when decompressed`);
  const bytes = typeof decoded === 'string' ? coded : decoded;
  const refused = budget.refuseDecoded(bytes, coded.length);
  if (refused !== undefined) return tooLarge(refused);
  const misread = isUtf8(bytes) ? undefined : 'invalid-utf8';
  const bodyProblem = typeof decoded === 'string' ? (`${decoded}-encoding` as const) : misread;
  return {
    kind: 'response',
    ...(isHttp2 === true ? { httpVersion: '2' } : {}),
    status,
    headers: headers.map(([name, value]) => [redact(name), redact(value)]),
    body: redact(UTF_8.decode(bytes)),
    bodyBytes: bytes.length,
    ...(bodyProblem === undefined ? {} : { bodyProblem }),
  };
}
