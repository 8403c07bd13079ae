/** A stored run that is judged again when its journal is damaged: nothing is found broken that was not. */
import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { JOURNAL_FILE } from './check-target.ts';
import { readJournal } from './run/journal.ts';
import { checked, sharedClockTarget } from './testing/shared-clock-target.ts';

t.test(
  'wherever the journal of a conforming run is damaged, its rejudgement finds nothing broken',
  async (t) => {
    const { request } = await sharedClockTarget(t, { animals: 30 }, ['free-1'], ['writes', 'exhaust']);
    const directory = t.testdir();
    const file = join(directory, JOURNAL_FILE);
    const broken = ({ result }: Awaited<ReturnType<typeof checked>>) =>
      [...result.requirements].flatMap(([id, { verdict, reasons }]) =>
        verdict === 'fail' ? [`${id}: ${JSON.stringify(reasons)}`] : [],
      );
    t.strictSame(broken(await checked({ ...request, directory })), []);
    const whole = readFileSync(file);
    await fc.assert(
      fc.asyncProperty(fc.nat(whole.length - 1), fc.integer({ min: 0, max: 300 }), async (place, length) => {
        // From here on the file is cut off, or a piece is missing.
        if (length === 0) truncateSync(file, place);
        else writeFileSync(file, Buffer.concat([whole.subarray(0, place), whole.subarray(place + length)]));
        const resume = readJournal(file);
        writeFileSync(file, whole);
        if (!resume.ok) return;
        const { clock: _, ...stored } = request;
        const found = broken(await checked({ ...stored, resume, offline: true }));
        if (found.length > 0) throw new Error(found.join('\n'));
      }),
      { numRuns: 25 },
    );
  },
);
