import { fileText } from '../../checks/profile/file-text.ts';
import { suggestion } from '../../checks/profile/suggestion.ts';
import { LARGEST_YAML, YamlFile } from '../../checks/profile/yaml-file.ts';
import { quoted } from '../../checks/wire/answer.ts';
import type { BaselineEntry } from '../../reports/verdict.ts';
import { currentId, requirements } from '../../spec/contract.ts';
import { UsageError } from '../shared/exit-codes.ts';
import { mistakesIn } from '../shared/profile-file.ts';

function readText(file: string): string {
  try {
    return fileText(file, LARGEST_YAML);
  } catch (error) {
    throw new UsageError(`${file}: ${error instanceof Error ? error.message : String(error)}`);
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
  if (yaml.problems.length > 0) throw mistakesIn(file, yaml.problems);
  return [...entries.values()];
}

const FIELDS = ['id', 'reason'];

/** The id of an entry. If something is wrong with it, that is reported and the id is undefined. */
function readEntry(yaml: YamlFile, path: string, item: unknown): string | undefined {
  const isMapping = typeof item === 'object' && item !== null;
  const entry = { id: undefined, ...(isMapping ? item : { id: item }) };
  const idPath = isMapping ? `${path}/id` : path;
  for (const name of Object.keys(entry).filter((field) => !FIELDS.includes(field)))
    yaml.report(`${path}/${name}`, 'name', `an entry has no field ${quoted(name)}`, suggestion(name, FIELDS));
  if (typeof entry.id !== 'string') {
    yaml.report(idPath, 'value', 'an entry names no requirement', 'write its id, in quotes if need be');
    return undefined;
  }
  const id = currentId(entry.id);
  const known = requirements.flatMap((row) => (row.excluded === undefined ? [row.id] : []));
  if (known.includes(id)) return id;
  const remedy = suggestion(id, known);
  const message = `there is no requirement ${quoted(id)} with a check`;
  yaml.report(idPath, 'value', message, remedy.startsWith('did') ? remedy : 'see check --list');
  return undefined;
}
