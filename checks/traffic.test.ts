/** What recorded traffic comes to: in testing/traffic.txt the entries of a recording, then what is said of them. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { sentence } from '../reports/reasons.ts';
import { type CheckRequest, checkTarget } from './check-target.ts';
import { parseProfile } from './profile/parse-profile.ts';
import { UsageError } from './profile/usage-error.ts';
import { readHar } from './run/har.ts';
import type { RunEvent } from './run/run-events.ts';
import { assertAsStored } from './testing/as-stored.ts';

const FILE = join(import.meta.dirname, 'testing', 'traffic.txt');
const BASE = 'https://staging.example.com/v1';
const PROFILE = `target: ${BASE}
keys: [{ name: free-1, plan: enterprise, env: FREE }, { name: pro-1, plan: pro, env: PRO }]
plans: { enterprise: { perMinute: 60, perDay: 1000 } }
readings: { error-texts-not-empty: declined }`;

/** An entry as recorders write it, but for what a row says. */
const entryOf = ({ request, response, ...others }: Readonly<Record<string, object>>) => ({
  ...{ startedDateTime: '2026-11-21T12:00:00.000Z', time: 10, ...others },
  request: { method: 'GET', url: `${BASE}/pets`, headers: [], ...request },
  response: {
    status: 200,
    headers: [{ name: 'content-type', value: 'application/json' }],
    content: { text: '[]' },
    ...response,
  },
});

/** What is said of each answer, and of each row that it shows. */
async function said(file: string) {
  const lines: string[] = [];
  const onEvent = (event: RunEvent) => {
    if (event.kind === 'exchange') lines.push(JSON.stringify(event.exchange));
    if (event.kind === 'check-ended')
      lines.push(`at once ${event.id}: ${event.verdict}, ${event.violation?.actual ?? 'no violation'}`);
  };
  const request: CheckRequest = {
    profile: { ...parseProfile(PROFILE, 'profile.yaml'), target: BASE },
    values: new Map([
      ['free-1', 'secret-of-free-1'],
      ['pro-1', 'secret-of-pro-1'],
    ]),
    permissions: [],
    access: { headers: [], tls: {}, secrets: ['secret-header'] },
    onEvent,
    traffic: async (judge) => {
      for (const observed of readHar(file, BASE)) judge(observed);
    },
  };
  const { nothingToJudge, result, warnings } = await checkTarget(request);
  const rows = [...result.requirements].map(
    ([id, { verdict, reasons }]) => `${id}: ${verdict}, ${sentence(reasons)}`,
  );
  const isUsual = (row: string) => /: skipped, (traffic alone|no answer of the traffic)/.test(row);
  return {
    text: [...lines, ...warnings, nothingToJudge ?? 'judged'].join('\n'),
    rows: rows.filter((row) => !isUsual(row)),
  };
}

t.test('recorded traffic is judged as stored', async (t) => {
  const file = join(t.testdir(), 'recorded.har');
  const texts: Record<string, string> = {};
  const recordings = readFileSync(FILE, 'utf8').matchAll(/^===== (\[.*)$/gm);
  for (const [index, [, row = '']] of [...recordings].entries()) {
    const entries: readonly Readonly<Record<string, object>>[] = JSON.parse(row);
    writeFileSync(file, JSON.stringify({ log: { entries: entries.map(entryOf) } }));
    const { text, rows } = await said(file).catch((error: unknown) => {
      if (error instanceof UsageError) return { text: error.message.replace(file, 'the file'), rows: [] };
      throw error;
    });
    texts[row] = text;
    // A text by itself: a new row is not stored yet, and reddens none.
    for (const said of rows) texts[`of ${index + 1}: ${said}`] = '';
  }
  assertAsStored(t, FILE, texts);
});
