import { readFileSync } from 'node:fs';
import type { Test } from 'tap';
import { UsageError } from '../profile/usage-error.ts';
import { assertAsStored } from './as-stored.ts';

/**
 * Asserts that the texts of a file are as stored, where the name of each is what is asked: another line asks more. What
 * cannot be had is answered with why.
 */
export async function assertAnsweredAsStored(
  t: Test,
  file: string,
  answer: (asked: string) => string | Promise<string>,
): Promise<void> {
  const texts: Record<string, string> = {};
  for (const [, asked = ''] of readFileSync(file, 'utf8').matchAll(/^===== (.*)$/gm))
    try {
      texts[asked] = await answer(asked);
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      texts[asked] = error.message;
    }
  assertAsStored(t, file, texts);
}
