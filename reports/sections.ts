import { groupBy } from '../spec/group-by.ts';

/** Headings of the Pet Store Service Interface, by section number. */
const HEADINGS: Readonly<Record<string, string>> = {
  '1': 'What the service does',
  '2': 'Resources and their fields',
  '3': 'States and transitions',
  '4': 'Endpoints',
  '4.1': 'List animals',
  '4.2': 'Add an animal',
  '4.3': 'Get an animal (deprecated)',
  '5': 'Authentication',
  '6': 'Events',
  '7': 'Errors',
  '8': 'Limits',
  '9': 'Versioning',
  own: 'rules',
};

/** `8 Limits`; the bare number if the document has no such section. */
function sectionName(section: string): string {
  const heading = HEADINGS[section];
  return heading === undefined ? section : `${section} ${heading}`;
}

/** Rows of one section of the document. */
export interface Section<Row> {
  readonly section: string;
  readonly name: string;
  readonly rows: readonly Row[];
}

/** Groups rows by section, in the order of the document. */
export function bySection<Row extends { readonly section: string }>(rows: readonly Row[]): Section<Row>[] {
  return [...groupBy(rows, ({ section }) => section)]
    .sort(([a], [b]) => a.localeCompare(b, 'en', { numeric: true }))
    .map(([section, group]) => ({ section, name: sectionName(section), rows: group }));
}
