import { Type } from '@sinclair/typebox';
import { fileText } from '../../checks/profile/file-text.ts';
import { LARGEST_YAML, YamlFile } from '../../checks/profile/yaml-file.ts';
import type { BaselineEntry } from '../../reports/verdict.ts';
import { everyRow } from '../../spec/contract.ts';
import { exact, words } from '../../spec/json-schema.ts';

/**
 * Reads a baseline: a YAML list of requirement ids, each alone or as `{ id: …, reason: … }`.
 *
 * @throws UsageError with file and line of everything that is wrong
 */
export function readBaseline(file: string): BaselineEntry[] {
  const checked = everyRow().filter(({ excluded }) => excluded === undefined);
  const Baseline = Type.Array(
    exact({ id: words(checked.map(({ id }) => id)), reason: Type.Optional(Type.String()) }),
    { description: 'write one "- id" a line' },
  );
  const yaml = new YamlFile(fileText(file, undefined, LARGEST_YAML), file);
  const { value = [] } = yaml;
  const entries: unknown = Array.isArray(value)
    ? value.map((item) => (typeof item === 'object' ? item : { id: item }))
    : value;
  return yaml
    .validated(Baseline, entries, 'the baseline')
    .map(({ id }, index) => ({ id, place: `${file}:${yaml.lineOf(`/${index}`)}` }));
}
