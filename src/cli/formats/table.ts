import { clean } from '../sanitize.ts';
import { type Ruler, rulerFor } from '../width.ts';

export interface Table {
  /** Left out for lines without names. */
  readonly header?: readonly string[] | undefined;
  readonly rows: readonly (readonly string[])[];
  /** Width of the terminal; undefined when it is none, and then nothing is cut. */
  readonly width?: number | undefined;
}

/** Columns two blanks apart, aligned as the terminal shows them; a newline after each row. */
export async function tableText({ header, rows, width }: Table): Promise<string> {
  const lines = [...(header === undefined ? [] : [header]), ...rows].map((line) =>
    line.map((cell) => clean(cell, longestCell)),
  );
  const rule = await rulerFor(lines.flat());
  const widths = columnWidths(lines, rule);
  const shares = width === undefined ? widths : narrowed(widths, width);
  return lines.map((line) => `${row(line, shares, rule, width)}\n`).join('');
}

// Beyond this a cell is a mistake or an attack, on a terminal or not.
const longestCell = 10_000;
const gap = '  ';
/** On a narrow terminal, columns wider than this give way first. */
const roomy = 24;

function row(cells: readonly string[], widths: readonly number[], rule: Ruler, width: number | undefined): string {
  const text = cells
    .map((cell, at) => rule.pad(rule.shorten(cell, widths[at]!), widths[at]!))
    .join(gap)
    .trimEnd();
  return width === undefined ? text : rule.shorten(text, width);
}

function columnWidths(lines: readonly (readonly string[])[], rule: Ruler): readonly number[] {
  const widths: number[] = [];
  for (const line of lines) {
    for (const [at, cell] of line.entries()) widths[at] = Math.max(widths[at] ?? 0, rule.measure(cell));
  }
  return widths;
}

function narrowed(widths: readonly number[], width: number): readonly number[] {
  const shares = [...widths];
  let surplus = shares.reduce((sum, share) => sum + share, 0) + gap.length * (shares.length - 1) - width;
  while (surplus > 0) {
    const widest = shares.indexOf(Math.max(...shares));
    if (shares[widest]! <= roomy) break;
    shares[widest]! -= 1;
    surplus -= 1;
  }
  return shares;
}
