/** Writes to standard output and comes back when it is out; a reader that has gone away is no error. */
export function print(text: string): Promise<void> {
  return new Promise((resolve) => {
    process.stdout.write(text, () => resolve());
  });
}
