import { readFileSync, statSync } from 'node:fs';
import { quoted, suggestion, YamlFields, type YamlNode } from '../../checks/profile/yaml-fields.ts';
import type { BaselineEntry } from '../../reports/verdict.ts';
import { requirements } from '../../spec/contract.ts';
import { UsageError } from '../shared/exit-codes.ts';

const MOST_BYTES = 2 ** 20;

function readText(file: string): string {
  try {
    if (statSync(file).size > MOST_BYTES)
      throw new UsageError(`${file}: larger than 1 MiB; is it the right file?`);
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
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
  const yaml = new YamlFields();
  const text = readText(file);
  const root = yaml.read(text);
  const items =
    yaml.problems.length > 0 || root === undefined || root === null
      ? []
      : yaml.items({ value: root, offset: 0 }, 'a baseline');
  const entries = new Map<string, BaselineEntry>();
  for (const item of items ?? []) {
    const id = readEntry(yaml, item);
    if (id === undefined) continue;
    if (entries.has(id)) yaml.report(item, `${id} is listed twice`, 'remove one');
    entries.set(id, { id, place: `${file}:${lineAt(text, item?.range?.[0] ?? 0)}` });
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

const lineAt = (text: string, offset: number) => text.slice(0, offset).split('\n').length;

function readEntry(yaml: YamlFields, item: YamlNode): string | undefined {
  const plain = yaml.scalarText(item);
  const fields = plain === undefined ? yaml.fields(item, 'an entry', ['id', 'reason']) : undefined;
  const idNode = plain === undefined ? fields?.get('id')?.value : item;
  if (plain === undefined && fields !== undefined && !fields.has('id'))
    yaml.report(item, 'an entry has no id', 'add id: a requirement');
  const reason = fields?.get('reason');
  if (reason !== undefined) yaml.text(reason.value, 'reason');
  if (idNode === undefined) return undefined;
  const id = yaml.text(idNode, 'id');
  if (id === undefined || requirements.some((row) => row.id === id && row.excluded === undefined)) return id;
  const known = requirements.filter(({ excluded }) => excluded === undefined).map((row) => row.id);
  const remedy = suggestion(id, known);
  yaml.report(
    idNode,
    `there is no requirement ${quoted(id)} with a check`,
    remedy.startsWith('did') ? remedy : 'see check --list',
  );
  return undefined;
}
