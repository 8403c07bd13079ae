import { closeSync, openSync, readSync, statSync } from 'node:fs';

/** How much of a file is read at all. */
export interface Bounds {
  readonly mostBytes: number;
  /** Bytes of one line; of a longer one only so many are read, and what is read is no whole line. */
  readonly mostInLine: number;
}

/** A line of a file without its end. */
export interface Line {
  readonly text: string;
  /** Bytes of the file up to the end of this line. */
  readonly end: number;
  /** Whether the line was ended, and no longer than the bound. */
  readonly isWhole: boolean;
}

const PIECE = 2 ** 20;
const LINE_END = 0x0a;

/**
 * The lines of a file one by one, so that neither a large file nor a long line takes more memory than its bound.
 *
 * @throws Error with what is wrong with the file in a few words: it is no regular file, or larger than the bound
 */
export function* readLines(path: string, { mostBytes, mostInLine }: Bounds): Generator<Line> {
  const facts = statSync(path);
  if (!facts.isFile()) throw new Error('is not a regular file');
  if (facts.size > mostBytes) throw new Error(`is larger than ${mostBytes.toLocaleString('en')} bytes`);
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
        yield { text: bytes.toString('utf8', from, at), end, isWhole: at - from <= mostInLine };
        from = at + 1;
      }
      pending = Buffer.from(bytes.subarray(from));
      if (read > 0 && pending.length <= mostInLine) continue;
      if (pending.length > 0)
        yield { text: pending.toString('utf8'), end: end + pending.length, isWhole: false };
      return;
    }
  } finally {
    closeSync(file);
  }
}
