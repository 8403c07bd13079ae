import type { JournalContent, JournalEntry, JournalHeader } from '../journal.ts';
import { NOON } from './test-run.ts';

/** What a journal of a test begins with. */
export const JOURNAL_HEADER = {
  journal: 2,
  runId: 'abcd2345',
  startedAt: NOON,
  target: 'https://staging.example.com/v1',
  permissions: [],
  keys: ['free-1'],
  clockSpeed: 1,
  harnessVersion: '0.1.0',
} as const satisfies JournalHeader;

/** What an earlier process wrote. */
export const storedRun = (
  entries: readonly JournalEntry[],
  header: Partial<JournalHeader> = {},
): Extract<JournalContent, { ok: true }> => ({
  ok: true,
  header: { ...JOURNAL_HEADER, ...header },
  entries,
  sessions: 1,
  warnings: [],
});
