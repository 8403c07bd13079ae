/**
 * Marks of a frame. A terminal that knows them shows what is between them at once. Others ignore them.
 *
 * @see https://github.com/contour-terminal/vt-extensions/blob/master/synchronized-output.md
 */
const BEGIN = '\u001b[?2026h';
const END = '\u001b[?2026l';

/** Collects what is drawn until it is shown. */
export interface Frames {
  /** A stand-in for the terminal, whose `write` only collects. */
  readonly canvas: NodeJS.WriteStream;
  /** Shows what was drawn, in one write, so that the picture never flickers. */
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
