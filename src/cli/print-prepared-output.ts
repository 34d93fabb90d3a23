import { sanitizeLine, spreadsheetCell } from '../base/sanitize.ts';
import type { OutputSink } from '../platform/host.ts';
import type { ListView, OutputCellValue, OutputColumnTraits } from './columns.ts';
import { type CsvRecordEncoder, createCsvRecordEncoder } from './formats/csv.ts';
import { formatJsonDocument } from './formats/json.ts';
import { ndjsonLine } from './formats/ndjson.ts';
import { formatTextTable } from './formats/table.ts';
import type { PreparedOutput } from './prepared-output.ts';
import { createTerminalCellFormatter } from './terminal-cell-formatter.ts';

export type OutputFormat = 'table' | 'json' | 'ndjson' | 'yaml' | 'csv';

export interface PrintOutputOptions {
  readonly stdout: OutputSink;
  readonly format: OutputFormat;
  /** False with `--no-header`. */
  readonly header: boolean;
  /** Whether tables on stdout have colour; other formats never have colour. */
  readonly dataColor: boolean;
  /** Whether the terminal shows hyperlinks. */
  readonly hyperlinks?: boolean;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

export type PreparedOutputDisplayOptions = Pick<ListView<never>, 'isReport' | 'untruncated'>;

/** Prints output that was prepared for printing, in the format of the options. */
export async function printPreparedOutput(
  presented: PreparedOutput,
  options: PrintOutputOptions,
  { isReport, untruncated }: PreparedOutputDisplayOptions = {},
): Promise<void> {
  const { stdout, format, header } = options;
  switch (format) {
    case 'json':
      return stdout.write(formatJsonDocument(presented.data));
    case 'yaml':
      return stdout.write((await import('./formats/yaml.ts')).formatYamlDocument(presented.data));
    case 'ndjson': {
      const lines = presented.kind === 'rows' || presented.kind === 'values' ? presented.data : [presented.data];
      for (const line of lines) await stdout.write(ndjsonLine(line));
      return;
    }
    case 'csv': {
      const record = await createSafeCsvRecordEncoder(stdout, isReport);
      if (header && 'names' in presented && presented.names.length > 0) await stdout.write(record(presented.names));
      for (const cells of cellRows(presented)) await stdout.write(record(cells));
      return;
    }
    case 'table':
      return stdout.write(await renderTerminalTable(presented, options, untruncated));
    default:
      return format satisfies never;
  }
}

/**
 * Renders a table that is as wide as the terminal. Without a terminal, or with `untruncated`, the table is as wide as
 * its cells.
 */
export async function renderTerminalTable(
  presented: PreparedOutput,
  { stdout, header, dataColor, hyperlinks = false, now }: Omit<PrintOutputOptions, 'format'>,
  untruncated = false,
): Promise<string> {
  const width = stdout.isTTY && !untruncated ? stdout.columns : undefined;
  const traits: readonly OutputColumnTraits[] = ('traits' in presented ? presented.traits : undefined) ?? [];
  const shown = await createTerminalCellFormatter({ isTerminal: stdout.isTTY, color: dataColor, hyperlinks, now });
  // One object is shown vertically: a column name and its value on each line.
  if (presented.kind === 'object') {
    const lines = presented.cells.map((cell, at) => [
      ...(header ? [presented.names[at] ?? ''] : []),
      shown.text(cell, traits[at]),
    ]);
    return formatTextTable({
      rows: lines,
      width,
      style: (text, column, row = 0) =>
        header && column === 0 ? shown.styleHeader(text) : shown.style(text, traits[row], presented.cells[row]),
    });
  }
  const rows = cellRows(presented);
  return formatTextTable({
    header: header && presented.kind === 'rows' && presented.names.length > 0 ? presented.names : undefined,
    rows: rows.map((cells) => cells.map((cell, at) => shown.text(cell, traits[at]))),
    width,
    priorities: traits.map(({ priority }) => priority),
    style: (text, column, row) =>
      row === undefined ? shown.styleHeader(text) : shown.style(text, traits[column], rows[row]?.[column]),
  });
}

function cellRows(presented: PreparedOutput): readonly (readonly OutputCellValue[])[] {
  switch (presented.kind) {
    case 'rows':
    case 'values':
      return presented.cells;
    case 'object':
      return [presented.cells];
    case 'value':
      return presented.cell === null || presented.cell === undefined ? [] : [[presented.cell]];
    default:
      return presented satisfies never;
  }
}

/**
 * Creates a CSV encoder. Cells of a list are unchanged in a file, and without control characters on a terminal. Cells of a
 * report are also protected against being read as formulas.
 */
export async function createSafeCsvRecordEncoder({ isTTY }: OutputSink, isReport = false): Promise<CsvRecordEncoder> {
  const record = await createCsvRecordEncoder();
  const printable = isReport ? spreadsheetCell : isTTY ? (text: string) => sanitizeLine(text, 10_000) : undefined;
  if (printable === undefined) return record;
  return (cells) => record(cells.map((cell) => (typeof cell === 'string' ? printable(cell) : cell)));
}
