import { type JournalEntry, type JournalHeader, lineOf, type ReadJournal } from '../journal.ts';
import { NOON } from './test-run.ts';

/** What a journal of a test begins with. */
export const JOURNAL_HEADER = {
  journal: 7,
  runId: 'abcd2345',
  startedAt: NOON,
  target: 'https://staging.example.com/v1',
  permissions: [],
  keys: ['free-1'],
  clockSpeed: 1,
  harnessVersion: '0.1.0',
} as const satisfies JournalHeader;

/** The text of a journal. */
export function journalText(entries: readonly unknown[], header: Partial<JournalHeader> = {}): string {
  let before = 0;
  const lines = [{ ...JOURNAL_HEADER, ...header }, ...entries].map((entry) => {
    // Entries of tests may be wrong on purpose.
    const { line, check } = lineOf(entry as JournalEntry, before);
    before = check;
    return line;
  });
  return lines.join('');
}

/** What an earlier process wrote. */
export const storedRun = (
  entries: readonly JournalEntry[],
  header: Partial<JournalHeader> = {},
): ReadJournal => ({
  header: { ...JOURNAL_HEADER, ...header },
  entries,
  sessions: 1,
  lastAt: NOON,
  end: 0,
  check: 0,
});
