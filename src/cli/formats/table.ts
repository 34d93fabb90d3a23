import { sanitizeLine } from '../../sanitize/terminal-text.ts';
import { createTextMeasurerForTexts, type TextMeasurer } from '../text-width.ts';

export interface TextTable {
  /** Absent for a table without column names. */
  readonly header?: readonly string[] | undefined;
  readonly rows: readonly (readonly string[])[];
  /** Width of the terminal in characters; undefined when the output is not a terminal, and nothing is cut. */
  readonly width?: number | undefined;
}

/** Columns two spaces apart, aligned by display width; a newline after each row. */
export async function formatTable({ header, rows, width }: TextTable): Promise<string> {
  const lines = [...(header === undefined ? [] : [header]), ...rows].map((line) =>
    line.map((cell) => sanitizeLine(cell, maxCellLength)),
  );
  const rule = await createTextMeasurerForTexts(lines.flat());
  const widths = columnWidths(lines, rule);
  const shares = width === undefined ? widths : shrinkWidths(widths, width);
  return lines.map((line) => `${formatRow(line, shares, rule, width)}\n`).join('');
}

// A longer cell is a mistake or an attack.
const maxCellLength = 10_000;
const gap = '  ';
/** On a narrow terminal only columns wider than this shrink. */
const minShrinkWidth = 24;

function formatRow(
  cells: readonly string[],
  widths: readonly number[],
  rule: TextMeasurer,
  width: number | undefined,
): string {
  const text = cells
    .map((cell, at) => rule.pad(rule.truncate(cell, widths[at]!), widths[at]!))
    .join(gap)
    .trimEnd();
  return width === undefined ? text : rule.truncate(text, width);
}

function columnWidths(lines: readonly (readonly string[])[], rule: TextMeasurer): readonly number[] {
  const widths: number[] = [];
  for (const line of lines) {
    for (const [at, cell] of line.entries()) widths[at] = Math.max(widths[at] ?? 0, rule.measure(cell));
  }
  return widths;
}

function shrinkWidths(widths: readonly number[], width: number): readonly number[] {
  const shares = [...widths];
  let surplus = shares.reduce((sum, share) => sum + share, 0) + gap.length * (shares.length - 1) - width;
  while (surplus > 0) {
    const widest = shares.indexOf(Math.max(...shares));
    if (shares[widest]! <= minShrinkWidth) break;
    shares[widest]! -= 1;
    surplus -= 1;
  }
  return shares;
}
