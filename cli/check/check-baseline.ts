import { fileText } from '../../checks/profile/file-text.ts';
import { quoted, suggestion } from '../../checks/profile/suggestion.ts';
import { YamlFile } from '../../checks/profile/yaml-file.ts';
import type { BaselineEntry } from '../../reports/verdict.ts';
import { requirements } from '../../spec/contract.ts';
import { UsageError } from '../shared/exit-codes.ts';

const MOST_BYTES = 2 ** 20;

function readText(file: string): string {
  try {
    return fileText(file, MOST_BYTES);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error))
      throw new UsageError(`${file}: ${error instanceof Error ? error.message : String(error)}`);
    const code = String(error.code);
    const why =
      { ENOENT: 'there is no such file', EISDIR: 'it is a directory', EACCES: 'permission denied' }[code] ??
      code;
    throw new UsageError(`${file}: the baseline cannot be read: ${why}`);
  }
}

/**
 * Reads a baseline: a YAML list of requirement ids, each alone or as `{ id: …, reason: … }`.
 *
 * @throws UsageError with file and line of everything that is wrong
 */
export function readBaseline(file: string): BaselineEntry[] {
  const yaml = new YamlFile(readText(file));
  const items = Array.isArray(yaml.value) ? yaml.value : [];
  if (yaml.value !== undefined && !Array.isArray(yaml.value))
    yaml.report('', 'value', 'a baseline must be a list', 'write one "- id" a line');
  const entries = new Map<string, BaselineEntry>();
  for (const [index, item] of items.entries()) {
    const id = readEntry(yaml, `/${index}`, item);
    if (id === undefined) continue;
    if (entries.has(id)) yaml.report(`/${index}`, 'value', `${id} is listed twice`, 'remove one');
    entries.set(id, { id, place: `${file}:${yaml.lineOf(`/${index}`)}` });
  }
  if (yaml.problems.length > 0) {
    throw new UsageError(
      ...yaml.problems.map(
        ({ line, column, message, remedy }) => `${file}:${line}:${column}: ${message}; ${remedy}`,
      ),
    );
  }
  return [...entries.values()];
}

const FIELDS = ['id', 'reason'];

function readEntry(yaml: YamlFile, path: string, item: unknown): string | undefined {
  const isMapping = typeof item === 'object' && item !== null && !Array.isArray(item);
  const { id, reason, ...others } = {
    id: undefined,
    reason: undefined,
    ...(isMapping ? item : { id: item }),
  };
  const idPath = isMapping ? `${path}/id` : path;
  for (const name of Object.keys(others))
    yaml.report(`${path}/${name}`, 'name', `an entry has no field ${quoted(name)}`, suggestion(name, FIELDS));
  if (reason !== undefined && typeof reason !== 'string')
    yaml.report(`${path}/reason`, 'value', 'reason must be a text', 'put it in quotes');
  if (id === undefined) yaml.report(path, 'value', 'an entry has no id', 'add id: a requirement');
  else if (typeof id !== 'string') yaml.report(idPath, 'value', 'id must be a text', 'put it in quotes');
  if (typeof id !== 'string') return undefined;
  const known = requirements.flatMap((row) => (row.excluded === undefined ? [row.id] : []));
  if (known.includes(id)) return id;
  const remedy = suggestion(id, known);
  yaml.report(
    idPath,
    'value',
    `there is no requirement ${quoted(id)} with a check`,
    remedy.startsWith('did') ? remedy : 'see check --list',
  );
  return undefined;
}
