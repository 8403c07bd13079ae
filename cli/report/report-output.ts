import { writePrivately } from '../../reports/write-reports.ts';

/** Ends with one line on standard error and the exit code of wrong usage. */
export type Fail = (message: string) => never;

/** Writes to standard output; a reader that has gone away (`| head`) is no error. */
async function print(text: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const settle = (error?: Error | null) => {
      if (!error || ('code' in error && error.code === 'EPIPE')) resolve();
      else reject(error);
    };
    process.stdout.once('error', settle);
    process.stdout.write(text, settle);
  });
}

/** Writes to a file, private and whole, or to standard output. */
export async function put(text: string, out: string | undefined): Promise<void> {
  if (out === undefined) await print(text);
  else await writePrivately(out, text);
}
