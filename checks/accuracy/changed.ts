/** Which cases a change touches, by what imports what. */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { promisify } from 'node:util';
import type { AccuracyCase } from './case.ts';

/** Source texts by path from the root of the project: whatever a change can touch. */
export type Sources = ReadonlyMap<string, string>;

/** Whether a change touches a case. */
type Touches = (accuracyCase: AccuracyCase) => boolean;

const everything: Touches = () => true;
const nothing: Touches = () => false;

/** What a run of the cases begins with. */
const ENTRIES = ['checks/accuracy/main.ts', 'checks/accuracy/worker.ts'];
/** Read by none of them as source, and decisive all the same. */
const DECISIVE = /^(spec\/.*\.yaml|package(-lock)?\.json|tsconfig.*\.json)$/;

/** By file, the files that it imports. */
function importsIn(sources: Sources): ReadonlyMap<string, readonly string[]> {
  return new Map(
    [...sources].map(([file, source]) => [
      file,
      [...source.matchAll(/(?:from|import|import\(|new URL\() ?'(\.[^']+)'/g)].map(([, path = '']) =>
        posix.join(posix.dirname(file), path.replace(/\.js$/, '.ts')),
      ),
    ]),
  );
}

/** Where steps lead from some files, these among them. */
function reachedFrom(
  files: readonly string[],
  steps: (file: string) => readonly string[],
): ReadonlySet<string> {
  const reached = new Set(files);
  for (const file of reached) for (const next of steps(file)) reached.add(next);
  return reached;
}

/** Files of one kind of case, or of the requirements of one section. */
const PLACE = /^(?:reference-server\/deviations|checks)\/(faults|variants|sections(?=\/.*\/))\/(?!index)/;
/** Where imports lead. */
const GRAPH = /^(checks|reference-server|spec)\/.*\.ts$/;

/** Whether a source holds a name, whole or with its last part from a list: `rate-minute-${plan}`. */
const holds = (source: string, name: string) =>
  source.includes(`'${name}'`) || source.includes(`\`${name.replace(/[^-]*$/, '')}\${`);

/**
 * Which cases changed files touch: a fault's own file its faults, a section's those faults whose requirement it judges, a
 * framework's service all of these, and what is shared everything. What no run imports touches nothing.
 */
export function touchedBy(changed: readonly string[], sources: Sources): Touches {
  const imports = importsIn(sources);
  const run = reachedFrom(ENTRIES, (file) => imports.get(file) ?? []);
  const importing = (file: string) => [...run].filter((other) => imports.get(other)?.includes(file));
  const each = changed.map((file): Touches => {
    if (DECISIVE.test(file)) return everything;
    if (/\.test\.ts$|\/testing\//.test(file)) return nothing;
    if (file.startsWith('checks/accuracy/frameworks/')) return ({ style }) => style !== undefined;
    // A file that is gone may have been imported.
    if (!run.has(file)) return !sources.has(file) && GRAPH.test(file) ? everything : nothing;
    const [, folder] = PLACE.exec(file) ?? [];
    if (folder === undefined) return everything;
    const texts = [...reachedFrom([file], importing)].flatMap((other) =>
      PLACE.test(other) ? (sources.get(other) ?? []) : [],
    );
    // A table holds a fault by its name, a check its requirement by its id.
    const named = (name: string) => texts.some((source) => holds(source, name));
    return ({ kind, name, breaks = '', style }) =>
      kind === 'fault'
        ? named(folder === 'sections' ? breaks : name)
        : folder === 'variants' && style === undefined;
  });
  return (accuracyCase) => each.some((touches) => touches(accuracyCase));
}

/** The sources in a working tree. */
export async function sourcesIn(root: string): Promise<Sources> {
  const files = await git(
    root,
    'ls-files',
    '-co',
    '--exclude-standard',
    'checks/*.ts',
    'reference-server/*.ts',
    'spec/*.ts',
  );
  const there = files.filter((file) => existsSync(join(root, file)));
  return new Map(there.map((file) => [file, readFileSync(join(root, file), 'utf8')]));
}

/** What differs in a working tree from a revision touches these cases. @throws where git knows no such revision */
export async function touchedSince(base: string, root: string): Promise<Touches> {
  const known = await git(root, 'diff', '--name-only', '--relative', base);
  const fresh = await git(root, 'ls-files', '--others', '--exclude-standard');
  return touchedBy([...known, ...fresh], await sourcesIn(root));
}

async function git(root: string, ...args: string[]): Promise<string[]> {
  const { stdout } = await promisify(execFile)('git', args, { cwd: root });
  return stdout.split('\n').filter((line) => line !== '');
}
