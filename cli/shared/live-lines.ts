import cliTruncate from 'cli-truncate';
import { createLogUpdate } from 'log-update';

/** Fast enough for a countdown in seconds, slow enough not to flicker. */
const REDRAW_MS = 200;
/** How often a log gets a line. */
const LINE_EVERY_MS = 10_000;

/** Shows lines on a stream: a picture that is redrawn on a terminal, all of them in one line now and then elsewhere. */
export function liveLines(stream: NodeJS.WriteStream, lines: () => readonly string[]) {
  // The cursor is left alone: a process that is killed could not bring it back.
  const picture = stream.isTTY ? createLogUpdate(stream, { showCursor: true }) : undefined;
  const fit = (line: string) =>
    picture === undefined ? line : cliTruncate(line, Math.max(20, stream.columns - 1));
  const tell = () => {
    if (picture !== undefined) return picture(lines().map(fit).join('\n'));
    const text = lines()
      .map((line) => line.trim())
      .join('; ');
    if (text !== '') stream.write(`${text}\n`);
  };
  const timer = setInterval(tell, picture === undefined ? LINE_EVERY_MS : REDRAW_MS);
  timer.unref();
  return {
    /** Writes a line that stays. */
    note(line: string) {
      picture?.clear();
      stream.write(`${fit(line)}\n`);
    },
    /** Leaves the terminal clean. */
    end() {
      clearInterval(timer);
      picture?.clear();
    },
  };
}
