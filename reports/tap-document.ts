import { stringify } from 'yaml';

/** A test point. */
export interface Point {
  readonly ok: boolean;
  readonly description: string;
  /** `SKIP` and `TODO` do not gate. */
  readonly directive?: string;
  readonly diagnostic?: Readonly<Record<string, unknown>>;
}

/** Points as TAP 14. */
export function tapDocument(points: readonly Point[]): string {
  const lines = points.map((point, index) => pointLines(point, index + 1));
  return `TAP version 14\n1..${points.length}\n${lines.join('')}`;
}

function pointLines({ ok, description, directive, diagnostic }: Point, number: number): string {
  const suffix = directive === undefined ? '' : ` # ${escapeHash(directive)}`;
  const head = `${ok ? 'ok' : 'not ok'} ${number} - ${escapeHash(description)}${suffix}\n`;
  if (diagnostic === undefined) return head;
  const yaml = stringify(diagnostic, { lineWidth: 0 })
    .trimEnd()
    .replace(/^(?!$)/gm, '  ');
  return `${head}  ---\n${yaml}\n  ...\n`;
}

/** In a description and a directive `#` would begin a directive, and `\` escapes it. */
function escapeHash(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('#', '\\#');
}
