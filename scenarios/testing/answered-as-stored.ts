import { readFileSync } from 'node:fs';
import type { Test } from 'tap';
import { assertAsStored } from '../../checks/testing/as-stored.ts';

/** Asserts that the texts of a file are as stored, where the name of each is what is asked: another line asks more. */
export function assertAnsweredAsStored(t: Test, file: string, answer: (asked: string) => string): void {
  const asked = [...readFileSync(file, 'utf8').matchAll(/^===== (.*)$/gm)].map(([, name = '']) => name);
  assertAsStored(t, file, Object.fromEntries(asked.map((name) => [name, answer(name)])));
}
