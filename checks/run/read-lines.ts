import { closeSync, openSync, readSync, statSync } from 'node:fs';

/** What a long run sends. */
const MOST_BYTES = 128 * 2 ** 20;
/** A target's longest bodies, escaped. Of a longer line only so many bytes are read. */
const MOST_IN_LINE = 4 * 2 ** 20;

/** A line of a file without its end. */
export interface Line {
  readonly text: string;
  /** Bytes of the file up to the end of this line. */
  readonly end: number;
  /** Cut off: what a process that was killed left of its last line. */
  readonly kind: 'whole' | 'cut-off' | 'too-long';
}

const PIECE = 2 ** 20;
const LINE_END = 0x0a;

/**
 * The lines of a file one by one, so that neither a large file nor a long line takes more memory than its bound.
 *
 * @throws Error with what is wrong with the file in a few words: it is no regular file, or larger than the bound
 */
export function* readLines(path: string): Generator<Line> {
  const facts = statSync(path);
  if (!facts.isFile()) throw new Error('is not a regular file');
  if (facts.size > MOST_BYTES) throw new Error(`is larger than ${MOST_BYTES.toLocaleString('en')} bytes`);
  const file = openSync(path, 'r');
  try {
    const piece = Buffer.alloc(PIECE);
    let pending = Buffer.alloc(0);
    let end = 0;
    for (;;) {
      const read = readSync(file, piece, 0, PIECE, null);
      const bytes = Buffer.concat([pending, piece.subarray(0, read)]);
      let from = 0;
      for (let at = bytes.indexOf(LINE_END); at >= 0; at = bytes.indexOf(LINE_END, from)) {
        end += at + 1 - from;
        yield { text: bytes.toString('utf8', from, at), end, kind: 'whole' };
        from = at + 1;
      }
      pending = Buffer.from(bytes.subarray(from));
      if (read > 0 && pending.length <= MOST_IN_LINE) continue;
      const kind = read > 0 ? 'too-long' : 'cut-off';
      if (pending.length > 0) yield { text: pending.toString('utf8'), end: end + pending.length, kind };
      return;
    }
  } finally {
    closeSync(file);
  }
}
