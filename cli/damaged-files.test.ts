/** Stored files and profiles that are damaged or forged: whoever reads them refuses them in words, or goes on. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { JOURNAL_FILE } from '../checks/check-target.ts';
import { readProfile } from '../checks/profile/parse-profile.ts';
import { UsageError } from '../checks/profile/usage-error.ts';
import { readJournal } from '../checks/run/journal.ts';
import { checked, sharedClockTarget } from '../checks/testing/shared-clock-target.ts';
import { buildReport } from '../reports/build-report.ts';
import { diffReports } from '../reports/compare/diff.ts';
import { FORMATS, type Shown } from '../reports/formats.ts';
import { capacityReport, loadReport } from '../reports/load/load-report.ts';
import { readReport } from '../reports/report.ts';
import { readCapacity } from '../scenarios/runner/capacity/result.ts';
import { compareSeries } from '../scenarios/runner/compare/compare-series.ts';
import { conclude } from '../scenarios/runner/result/conclude.ts';
import { readLoadResult } from '../scenarios/runner/result/load-result.ts';
import { damaged, forged, forgedJournal } from './testing/mutants.ts';

const seed = Number(process.env['PETSTORE_SEED'] ?? Date.now() % 1e6);

/** Reads so many mutants of a file, each bounded. What is thrown must be wrong usage, told in words. */
async function readMutants(
  t: Test,
  name: string,
  mutants: fc.Arbitrary<Buffer>,
  read: (file: string) => unknown,
): Promise<void> {
  const file = join(t.testdir({}), name);
  const property = fc.asyncProperty(mutants, async (bytes) => {
    writeFileSync(file, bytes);
    const start = performance.now();
    try {
      await read(file);
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
    }
    if (performance.now() - start > 20_000) throw new Error('that took more than 20 s');
  });
  await fc.assert(property, { seed, numRuns: Number(process.env['MUTANTS'] ?? 8), endOnFailure: true });
}

const FORMAT_NAMES = ['terminal', 'html', 'markdown', 'junit', 'sarif', 'tap'] as const;
const renderAll = (run: Shown) => FORMAT_NAMES.map((name) => FORMATS[name].render(run));
const stored = (name: string) => fileURLToPath(new URL(name, import.meta.url));

const REPORT = stored('../reports/testing/report.json');
const KINDS: Readonly<Record<string, readonly [file: string, read: (file: string) => unknown]>> = {
  'a report': [
    REPORT,
    (file) => {
      const report = readReport(file);
      renderAll(buildReport(report));
      FORMATS.terminal.render(diffReports(readReport(REPORT), report));
    },
  ],
  'a load result': [
    stored('../scenarios/testing/load-report.json'),
    (file) => {
      const result = readLoadResult(file);
      renderAll(loadReport(result));
      compareSeries(result.series, result.series, 0.04);
      conclude([result]);
    },
  ],
  'the result of a search': [
    stored('../scenarios/testing/capacity.json'),
    (file) => renderAll(capacityReport(readCapacity(file))),
  ],
};

for (const [what, [file, read]] of Object.entries(KINDS))
  t.test(`${what} that is damaged or forged, PETSTORE_SEED=${seed}`, async (t) => {
    const whole = readFileSync(file);
    read(file);
    await readMutants(t, file.split('/').at(-1) ?? '', fc.oneof(damaged(whole), forged(whole)), read);
  });

const PROFILE = `target: https://staging.example.com/v1
keys:
  - { name: free-1, plan: free, env: FREE_KEY, roles: [functional, exhaust], unusedToday: true }
  - name: big
    plan: enterprise
    env: BIG_KEY
plans:
  enterprise: { perMinute: 5000, perDay: 1000000 }
permit: [writes, exhaust]
readings: { list-limit-fills: declined }
gaps: { limit-out-of-range: rejected-400 }
clock: { speed: 60 }
samples: { categoryId: 9223372036854775807 }
`;

t.test(`a profile that is damaged or forged, PETSTORE_SEED=${seed}`, async (t) => {
  const whole = Buffer.from(PROFILE);
  await readMutants(t, 'profile.yaml', fc.oneof(damaged(whole), forged(whole)), readProfile);
});

t.test(`a journal that is damaged or forged, PETSTORE_SEED=${seed}`, async (t) => {
  const { request } = await sharedClockTarget(t, { animals: 30 }, ['free-1'], ['writes', 'exhaust']);
  const directory = t.testdir({});
  const { clock: _, ...unplayed } = request;
  const broken = ({ result }: Awaited<ReturnType<typeof checked>>) =>
    [...result.requirements].flatMap(([id, { verdict, reasons }]) =>
      verdict === 'fail' ? [`${id}: ${JSON.stringify(reasons)}`] : [],
    );
  const brokenIn = async (file: string) =>
    broken(await checked({ ...unplayed, resume: readJournal(file), offline: true }));
  t.strictSame(broken(await checked({ ...request, directory })), []);
  const whole = readFileSync(join(directory, JOURNAL_FILE));
  await readMutants(t, JOURNAL_FILE, damaged(whole), async (file) => {
    const found = await brokenIn(file);
    if (found.length > 0) throw new Error(found.join('\n'));
  });
  // What is forged with the right checks may say anything of the target.
  await readMutants(t, JOURNAL_FILE, forgedJournal(whole), brokenIn);
});
