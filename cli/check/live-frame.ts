/**
 * Marks of a frame: a terminal that knows them shows what stands between at once, and others ignore them.
 *
 * @see https://github.com/contour-terminal/vt-extensions/blob/master/synchronized-output.md
 */
const BEGIN = '\u001b[?2026h';
const END = '\u001b[?2026l';

/** A stream that keeps what is drawn until it is shown. */
export interface Frames {
  /** Stands for the terminal: its size, and a `write` that only collects. */
  readonly canvas: NodeJS.WriteStream;
  /** Shows what was drawn since the last time, in one write: nobody sees a picture that is erased and not yet drawn. */
  show(): void;
}

/** Frames for a terminal. */
export function framesOf(stream: NodeJS.WriteStream): Frames {
  let drawn = '';
  const write = (text: string) => {
    drawn += text;
    return true;
  };
  const canvas: NodeJS.WriteStream = Object.create(stream, { write: { value: write } });
  return {
    canvas,
    show() {
      if (drawn !== '') stream.write(`${BEGIN}${drawn}${END}`);
      drawn = '';
    },
  };
}
