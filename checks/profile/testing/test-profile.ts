/** Profiles for tests, and what is wrong with them. */
import { type LoadedProfile, parseProfile } from '../parse-profile.ts';
import type { FileProblem } from '../yaml-file.ts';

/** A key without a fault. */
export const KEY = '{ name: free-1, plan: free, env: FREE_KEY }';

export const profileOf = (text: string): LoadedProfile => parseProfile(text, 'profile.yaml');

export function problemsOf(text: string): readonly FileProblem[] {
  const loaded = profileOf(text);
  return loaded.ok ? [] : loaded.problems;
}

/** A text with a problem: where it is, what is said of it, and the remedy. */
export type Misplaced = readonly [
  text: string,
  line: number,
  column: number,
  message: RegExp,
  remedy: RegExp,
];

/** A profile with one field more than it needs. */
export const withField = (field: string) => `keys: [${KEY}]\n${field}`;
