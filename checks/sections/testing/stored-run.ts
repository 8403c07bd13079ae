/** An earlier part of a run, as its journal holds it. */
import type { JournalContent, JournalEntry } from '../../run/journal.ts';
import { NOON } from '../../run/testing/test-run.ts';

export const storedRun = (entries: readonly JournalEntry[]): Extract<JournalContent, { ok: true }> => ({
  ok: true,
  header: {
    journal: 2,
    runId: 'abcd2345',
    startedAt: NOON,
    target: 'https://staging.example.com/v1',
    permissions: [],
    keys: [],
    clockSpeed: 1,
    harnessVersion: '0.1.0',
  },
  entries,
  sessions: 1,
  warnings: [],
});
