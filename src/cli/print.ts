import { isLossless } from '../base/exact.ts';
import { sanitizeLine, spreadsheetCell } from '../base/sanitize.ts';
import { formatDuration } from '../base/text.ts';
import type { OutputSink } from '../platform/host.ts';
import { createStyles, type TerminalStyles } from './color.ts';
import {
  type CellValue,
  type ColumnTraits,
  columnsOfRows,
  type ListView,
  type OutputColumn,
  pickColumns,
  rowObject,
  toCell,
} from './columns.ts';
import { type CsvEncoder, csvEncoder, formatTable, jsonDocument, ndjsonLine } from './formats.ts';
import { hyperlink } from './text.ts';

/** The data to print, in the shapes that the output formats distinguish; JSON and YAML print `data`, and need no cells. */
export type PreparedOutput =
  | {
      readonly kind: 'rows';
      readonly names: readonly string[];
      readonly traits?: readonly ColumnTraits[];
      readonly cells: readonly OutputCellRow[];
      readonly data: readonly unknown[];
    }
  | {
      readonly kind: 'object';
      readonly names: readonly string[];
      readonly traits?: readonly ColumnTraits[];
      readonly cells: OutputCellRow;
      readonly data: unknown;
    }
  | { readonly kind: 'values'; readonly cells: readonly OutputCellRow[]; readonly data: readonly unknown[] }
  | { readonly kind: 'value'; readonly cell: CellValue; readonly data: unknown };

type OutputCellRow = readonly CellValue[];

/** Returns the function that maps a row to its JSON: the row itself, or its chosen columns if `--format` names columns. */
export function rowMapper<T>(
  columns: readonly OutputColumn<T>[],
  wanted: readonly string[] | undefined,
): (row: T) => unknown {
  return wanted === undefined ? (row) => row : (row) => rowObject(row, columns);
}

export function prepareRows<T>(
  rows: readonly T[],
  { columns }: ListView<T>,
  wanted: readonly string[] | undefined,
): PreparedOutput {
  const picked = pickColumns(columns, wanted);
  return {
    kind: 'rows',
    names: picked.map(({ name }) => name),
    traits: picked,
    // JSON and YAML have no cells, and those of a long report take as much memory as its JSON.
    get cells() {
      return rows.map((row) => picked.map(({ value }) => value(row)));
    },
    data: rows.map(rowMapper(picked, wanted)),
  };
}

export function prepareObject<T>(
  object: T,
  { columns }: ListView<T>,
  wanted: readonly string[] | undefined,
): PreparedOutput {
  const picked = pickColumns(columns, wanted);
  return {
    kind: 'object',
    names: picked.map(({ name }) => name),
    traits: picked,
    get cells() {
      return picked.map(({ value }) => value(object));
    },
    data: rowMapper(picked, wanted)(object),
  };
}

/**
 * Prepares the result of a query, which may have any shape. Rows that a query selected unchanged keep the columns of their
 * view; for new objects, the columns are their keys. @param emptyColumns the columns of an empty list that are not those of the
 * view
 */
export function prepareResult<T>(
  result: unknown,
  view: ListView<T>,
  originals: readonly T[],
  wanted: readonly string[] | undefined,
  emptyColumns?: readonly string[],
): PreparedOutput {
  const known = new Set<unknown>(originals);
  const isOriginal = (value: unknown): value is T => known.has(value);
  if (Array.isArray(result)) {
    const elements: readonly unknown[] = result;
    // An empty result has no columns to check, so the columns that `--format` or the query names are used.
    if (elements.length === 0) {
      return {
        kind: 'rows',
        names:
          emptyColumns?.length === 0
            ? []
            : (wanted ?? emptyColumns ?? pickColumns(view.columns, undefined).map(({ name }) => name)),
        cells: [],
        data: [],
      };
    }
    if (elements.every(isOriginal)) return prepareRows(elements, view, wanted);
    if (elements.every(isObject)) return prepareRows(elements, { columns: columnsOfRows(elements) }, wanted);
    return { kind: 'values', cells: elements.map(cellsOfValue), data: elements };
  }
  if (isOriginal(result)) return prepareObject(result, view, wanted);
  if (isObject(result)) return prepareObject(result, { columns: columnsOfRows([result]) }, wanted);
  return { kind: 'value', cell: toCell(result), data: result };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isLossless(value);
}

function cellsOfValue(value: unknown): OutputCellRow {
  return Array.isArray(value) ? value.map(toCell) : [toCell(value)];
}

/** How tables on a terminal show cells. */
interface TerminalCellFormatter {
  /** The text of a cell; a time is shown relative to now. */
  text(cell: CellValue, traits: ColumnTraits | undefined): string;
  /** Adds to the text the colour of its status, and the hyperlink of its cell. */
  style(text: string, traits: ColumnTraits | undefined, cell: CellValue): string;
  styleHeader(text: string): string;
}

interface TerminalCellFormatterOptions {
  readonly isTerminal: boolean;
  readonly color: boolean;
  /** Whether the terminal shows hyperlinks. */
  readonly hyperlinks?: boolean;
  /** Returns the current time in milliseconds since the epoch. */
  readonly now: () => number;
}

export async function cellFormatter({
  isTerminal,
  color,
  hyperlinks = false,
  now: clock,
}: TerminalCellFormatterOptions): Promise<TerminalCellFormatter> {
  const styles = await createStyles(color);
  const now = clock();
  return {
    text(cell, traits) {
      if (cell === null || cell === undefined) return '';
      return isTerminal && traits?.kind === 'time' ? relativeTime(String(cell), now) : String(cell);
    },
    style(text, traits, cell) {
      const shown = traits?.kind === 'state' ? styles[colorOfState(text)](text) : text;
      const url = hyperlinks ? traits?.link?.(cell) : undefined;
      return url === undefined ? shown : hyperlink(shown, url);
    },
    styleHeader: (text) => styles.dim(text),
  };
}

const greenStates: ReadonlySet<string> = new Set(['active', 'completed', 'done', 'created', 'ok', 'finished', 'valid']);
const redStates: ReadonlySet<string> = new Set(['errored', 'error', 'failed', 'damaged', 'unknown', 'expired']);
const dimStates: ReadonlySet<string> = new Set(['off', 'archive', 'deleted', 'skipped', 'logged_out', 'canceled']);

/**
 * A status in neither of the sets of final statuses belongs to an unfinished operation: `new`, `in-progress`, `running`,
 * `unfinished`.
 */
function colorOfState(state: string): keyof Pick<TerminalStyles, 'green' | 'red' | 'dim' | 'yellow'> {
  if (greenStates.has(state)) return 'green';
  if (redStates.has(state)) return 'red';
  return dimStates.has(state) ? 'dim' : 'yellow';
}

/**
 * Formats a time as `3 min 20 s ago` or `in 29 d`; a time more than 60 days away as its date. Text that is not a time is returned
 * unchanged.
 */
export function relativeTime(text: string, now: number): string {
  const time = /^\d{4}-\d{2}-\d{2}T/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(time)) return text;
  const seconds = Math.floor(Math.abs(time - now) / 1000);
  if (seconds > 60 * 86_400) return text.slice(0, 10);
  const amount = formatDuration(seconds * 1000);
  return time > now ? `in ${amount}` : `${amount} ago`;
}

export type OutputFormat = 'table' | 'json' | 'ndjson' | 'yaml' | 'csv';

export interface PrintOptions {
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

export type DisplayOptions = Pick<ListView<never>, 'isReport' | 'untruncated'>;

/** Prints output that was prepared for printing, in the format of the options. */
export async function printPrepared(
  presented: PreparedOutput,
  options: PrintOptions,
  { isReport, untruncated }: DisplayOptions = {},
): Promise<void> {
  const { stdout, format, header } = options;
  switch (format) {
    case 'json':
      return stdout.write(jsonDocument(presented.data));
    case 'yaml':
      return stdout.write((await import('./yaml.ts')).yamlDocument(presented.data));
    case 'ndjson': {
      const lines = presented.kind === 'rows' || presented.kind === 'values' ? presented.data : [presented.data];
      for (const line of lines) await stdout.write(ndjsonLine(line));
      return;
    }
    case 'csv': {
      const record = await safeCsvEncoder(stdout, isReport);
      if (header && 'names' in presented && presented.names.length > 0) await stdout.write(record(presented.names));
      for (const cells of cellRows(presented)) await stdout.write(record(cells));
      return;
    }
    case 'table':
      return stdout.write(await renderTable(presented, options, untruncated));
    default:
      return format satisfies never;
  }
}

/**
 * Renders a table that is as wide as the terminal, or one object. Without a terminal, or with `untruncated`, the table is as wide as
 * its cells.
 */
export async function renderTable(
  presented: PreparedOutput,
  { stdout, header, dataColor, hyperlinks = false, now }: Omit<PrintOptions, 'format'>,
  untruncated = false,
): Promise<string> {
  const width = stdout.isTTY && !untruncated ? stdout.columns : undefined;
  const traits: readonly ColumnTraits[] = ('traits' in presented ? presented.traits : undefined) ?? [];
  const shown = await cellFormatter({ isTerminal: stdout.isTTY, color: dataColor, hyperlinks, now });
  // One object is shown vertically: a column name and its value on each line. The value is not cut, because users copy it, and
  // nothing stands after it.
  if (presented.kind === 'object') {
    const { cells, names } = presented;
    const lines = cells.map((cell, at) => [...(header ? [names[at] ?? ''] : []), shown.text(cell, traits[at])]);
    return formatTable({
      rows: lines,
      style: (text, column, row = 0) =>
        header && column === 0 ? shown.styleHeader(text) : shown.style(text, traits[row], cells[row]),
    });
  }
  const rows = cellRows(presented);
  return formatTable({
    header: header && presented.kind === 'rows' && presented.names.length > 0 ? presented.names : undefined,
    rows: rows.map((cells) => cells.map((cell, at) => shown.text(cell, traits[at]))),
    width,
    priorities: traits.map(({ priority }) => priority),
    style: (text, column, row) =>
      row === undefined ? shown.styleHeader(text) : shown.style(text, traits[column], rows[row]?.[column]),
  });
}

function cellRows(presented: PreparedOutput): readonly (readonly CellValue[])[] {
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
export async function safeCsvEncoder({ isTTY }: OutputSink, isReport = false): Promise<CsvEncoder> {
  const record = await csvEncoder();
  const printable = isReport ? spreadsheetCell : isTTY ? (text: string) => sanitizeLine(text, 10_000) : undefined;
  if (printable === undefined) return record;
  return (cells) => record(cells.map((cell) => (typeof cell === 'string' ? printable(cell) : cell)));
}
