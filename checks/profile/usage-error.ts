/** What the user can correct: wrong usage, an invalid file. The message has a line for each problem. */
export class UsageError extends Error {
  override readonly name = 'UsageError';

  constructor(...lines: readonly string[]) {
    super(lines.join('\n'));
  }
}
