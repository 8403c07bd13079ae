import type { Log, Result } from 'sarif';
import { badgeFile } from './badge.ts';
import { FORMATS, type FormatName } from './formats.ts';
import { junitDocument, type Trouble } from './junit-document.ts';
import type { LoadCase, LoadOutcome } from './load-outcome.ts';
import { code, fold, prose, table } from './markdown-text.ts';
import { type Point, tapDocument } from './tap-document.ts';
import { workflowCommand } from './workflow-command.ts';

/** The formats of a load result that need no more than its outcome; the page and the terminal have figures of their own. */
export type LoadFormatName = Exclude<FormatName, 'html' | 'terminal'>;

/** How a load result reads in each of them; the files are called as those of a check. */
export const LOAD_FORMATS = {
  junit,
  tap,
  markdown,
  sarif,
  github,
  badge,
} as const satisfies Readonly<Record<LoadFormatName, (outcome: LoadOutcome) => string>>;

/** The name of a format's file in a folder of results. */
export function loadFile(name: FormatName): string {
  return FORMATS[name].file;
}

const told = ({ actual, expected }: LoadCase) =>
  expected === undefined ? actual : `${actual}, expected ${expected}`;

function trouble(one: LoadCase): Trouble | undefined {
  if (one.standing === 'held') return undefined;
  const text = one.example === undefined ? {} : { text: `\n${one.example}\n` };
  return one.standing === 'broken'
    ? { tag: 'failure', type: one.kind, message: told(one), ...text }
    : { tag: 'skipped', message: told(one) };
}

function junit({ name, headline, problem, cases, facts, run }: LoadOutcome): string {
  const suite = (kind: LoadCase['kind'], title: string) => ({
    name: title,
    cases: cases
      .filter((one) => one.kind === kind)
      .map((one) => {
        const came = trouble(one);
        return {
          name: one.title,
          classname: `petstore-harness.load.${kind}`,
          ...(came === undefined ? {} : { trouble: came }),
        };
      }),
  });
  const failed: { trouble?: Trouble } =
    problem === undefined ? {} : { trouble: { tag: 'error', type: 'no-verdict', message: problem } };
  return junitDocument(run, [
    {
      name,
      properties: [['Verdict', headline], ...facts],
      cases: [{ name: 'The run has a verdict', classname: 'petstore-harness.load', ...failed }],
    },
    suite('threshold', 'Thresholds'),
    suite('contract', 'Contract under load'),
  ]);
}

function tap({ name, headline, problem, cases }: LoadOutcome): string {
  const run: Point = {
    ok: problem === undefined,
    description: `${name}: ${headline}`,
    ...(problem === undefined ? {} : { diagnostic: { problem } }),
  };
  return tapDocument([
    run,
    ...cases.map((one): Point => {
      const { actual, expected, example } = one;
      const description = `${one.kind} ${one.title}`;
      if (one.standing === 'held') return { ok: true, description: `${description}: ${actual}` };
      const diagnostic = { actual, expected, example };
      return one.standing === 'broken'
        ? { ok: false, description, diagnostic }
        : { ok: true, description, directive: `SKIP ${actual}` };
    }),
  ]);
}

const SIGN = { held: '✅', broken: '❌', open: '⚠️' } as const;
const WORD = { held: '✅ held', broken: '❌ broken', noted: 'noted' } as const;

function markdown({ name, headline, verdict, problem, cases, facts, figures }: LoadOutcome): string {
  const blocks = [
    `## ${SIGN[verdict]} ${prose(name)}: ${prose(headline)}`,
    problem === undefined ? '' : prose(problem, 400),
    facts
      .map(([label, text]) => `${label}: ${label === 'Target' ? code(text, 400) : prose(text, 400)}`)
      .join('<br>\n'),
    cases.length === 0
      ? ''
      : table(
          ['Threshold', '', 'Actual', 'Expected'],
          [...cases]
            .sort((a, b) => ORDER[a.standing] - ORDER[b.standing])
            .map((one) => [
              `**${prose(one.title)}**`,
              WORD[one.standing],
              code(one.actual),
              code(one.expected ?? ''),
            ]),
        ),
    fold(
      `Figures (${figures.rows.length})`,
      table(
        figures.head,
        figures.rows.map((cells) => cells.map((cell) => prose(cell))),
      ),
    ),
  ];
  return `${blocks.filter((block) => block !== '').join('\n\n')}\n`;
}

const ORDER = { broken: 0, noted: 1, held: 2 } as const satisfies Record<LoadCase['standing'], number>;

function github({ name, headline, problem, cases }: LoadOutcome): string {
  return [
    ...(problem === undefined ? [] : [workflowCommand('error', `${name}: ${headline}`, problem)]),
    ...cases.flatMap((one) => {
      if (one.standing === 'held') return [];
      const text = [told(one), ...(one.example === undefined ? [] : [one.example])].join('\n');
      return [workflowCommand(one.standing === 'broken' ? 'error' : 'notice', `${name}: ${one.title}`, text)];
    }),
  ].join('');
}

function badge({ name, verdict, headline }: LoadOutcome): string {
  const color = ({ held: 'brightgreen', broken: 'red', open: 'yellow' } as const)[verdict];
  return badgeFile({ schemaVersion: 1, label: name, message: headline, color, isError: verdict !== 'held' });
}

function sarif({ cases, problem, run }: LoadOutcome): string {
  const bad = cases.filter(({ standing }) => standing !== 'held');
  const results = bad.map(
    (one, ruleIndex): Result => ({
      ruleId: one.id,
      ruleIndex,
      kind: one.standing === 'broken' ? 'fail' : 'informational',
      level: one.standing === 'broken' ? 'error' : 'none',
      message: { text: [told(one), ...(one.example === undefined ? [] : [one.example])].join('\n') },
      locations: [
        { physicalLocation: { artifactLocation: { uri: 'load-report.json' }, region: { startLine: 1 } } },
      ],
      partialFingerprints: { 'case/v1': `${one.kind} ${one.id}` },
    }),
  );
  const log: Log = {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: 'petstore-harness load',
            version: run.harnessVersion,
            rules: bad.map(({ id, title }) => ({ id, shortDescription: { text: title } })),
          },
        },
        automationDetails: { id: 'petstore-harness/load/' },
        columnKind: 'utf16CodeUnits',
        invocations: [
          {
            executionSuccessful: problem === undefined,
            startTimeUtc: run.startedAt,
            ...(problem === undefined
              ? {}
              : { toolExecutionNotifications: [{ level: 'error', message: { text: problem } }] }),
          },
        ],
        results,
      },
    ],
  };
  return `${JSON.stringify(log, null, 2)}\n`;
}
