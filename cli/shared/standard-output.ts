/** Writes to standard output, and resolves when that is done. It is no error if the reader has gone away. */
export function print(text: string): Promise<void> {
  return new Promise((resolve) => {
    process.stdout.write(text, () => resolve());
  });
}
