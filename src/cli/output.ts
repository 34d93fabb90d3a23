import type { CliError } from '../errors.ts';
import type { OutputSink } from '../platform/host.ts';
import { spreadsheetCell } from '../sanitize/spreadsheet-cell.ts';
import { indentLines, sanitizeLine, sanitizeLines } from '../sanitize/terminal-text.ts';
import { createTerminalStyles } from './color.ts';
import type { Cell, ColumnTraits, ListView } from './columns.ts';
import { pickColumns } from './columns.ts';
import { printError } from './error-output.ts';
import type { CsvRecordEncoder } from './formats/csv.ts';
import { createCsvRecordEncoder } from './formats/csv.ts';
import { jsonDocument } from './formats/json.ts';
import { ndjsonLine } from './formats/ndjson.ts';
import { formatTable } from './formats/table.ts';
import { yamlDocument } from './formats/yaml.ts';
import type { JmespathQuery } from './jmespath-query.ts';
import type { PresentedData } from './present.ts';
import { presentObject, presentResult } from './present.ts';
import { createTerminalCells } from './terminal-cells.ts';
import type { RowPages } from './write-list.ts';
import { collectTableRows, streamCsv, streamNdjson, writeBufferedJson, writeBufferedYaml } from './write-list.ts';

export type OutputFormat = 'table' | 'json' | 'ndjson' | 'yaml' | 'csv';

export interface OutputOptions {
  readonly stdout: OutputSink;
  readonly stderr: OutputSink;
  readonly format: OutputFormat;
  /** The column names of `--format`. */
  readonly columns?: readonly string[] | undefined;
  /** False with `--no-header`. */
  readonly header: boolean;
  readonly query?: JmespathQuery | undefined;
  readonly quiet: boolean;
  /** Colour on stderr. */
  readonly color: boolean;
  /** Whether tables on stdout are coloured; other formats have no colour. */
  readonly dataColor: boolean;
  /** Returns the current time in milliseconds since the epoch. */
  readonly now: () => number;
}

export interface Output {
  readonly format: OutputFormat;
  /**
   * Prints rows. In ndjson and csv each row is printed at once; the other formats wait for the last row, so that stdout stays
   * empty after an error.
   */
  list<T>(rows: RowSource<T>, view: ListView<T>): Promise<void>;
  /** Prints rows that the server returns in pages. */
  pages<T>(pages: RowPages<T>, view: ListView<T>): Promise<void>;
  /** Throws a usage error for an unknown column of `--format`; for commands that work before they print the first row. */
  checkColumns<T>(view: ListView<T>): void;
  /** Prints one object. */
  object<T>(value: T, view: ListView<T>): Promise<void>;
  /** Prints data whose columns are not known: the table format prints it as JSON, unless a query or `--format` names columns. */
  data(value: unknown): Promise<void>;
  /** Prints text unchanged in every format, such as a script. */
  text(text: string): Promise<void>;
  /**
   * Prints text that the user needs to continue to stderr, even with `--quiet`. Each printed text is cut at `max` characters
   * (default: 4000).
   */
  show(text: Notice, max?: number): Promise<void>;
  /** Prints a notice to stderr, unless `--quiet` is set. Each text of a notice is cut at `max` characters (default: 4000). */
  note(text: Notice, max?: number): Promise<void>;
  /** Prints a warning to stderr. */
  warn(text: string): Promise<void>;
  /** Prints an error to stderr: as three lines of text, or in the JSON formats as one JSON object. */
  error(error: CliError): Promise<void>;
}

/**
 * A notice is one text, or a list with one text for each line. Only a text that the program itself starts begins in the first
 * column: a line break inside a text is followed by a space.
 */
export type Notice = string | readonly string[];

export type RowSource<T> = AsyncIterable<T> | Iterable<T>;

/** The output of a command: data to stdout, everything else to stderr. */
export function createOutput(options: OutputOptions): Output {
  const { stdout, stderr, format, columns, query, quiet, color } = options;
  const wanted = columns === undefined || columns.length === 0 ? undefined : columns;
  const write = (data: string | Uint8Array): Promise<void> => stdout.write(data);
  const pages: Output['pages'] = async (rows, view) => {
    if (query !== undefined) {
      if (format === 'ndjson' && query.isItemwise && wanted === undefined)
        return streamNdjson(queryPages(rows, query), { picked: [], wanted, header: false, write });
      const all = await collectRows(rows);
      return print(presentResult(query(all), view, all, wanted), options, view.isReport);
    }
    // Throws a usage error for unknown columns before the first row is requested.
    const listing = { picked: pickColumns(view.columns, wanted), wanted, header: options.header, write };
    switch (format) {
      case 'ndjson':
        return streamNdjson(rows, listing);
      case 'csv':
        return streamCsv(rows, listing, await csvRecord(stdout, view.isReport));
      case 'json':
        return writeBufferedJson(rows, listing);
      case 'yaml':
        return writeBufferedYaml(rows, listing);
      case 'table': {
        const names = listing.picked.map(({ name }) => name);
        const cells = await collectTableRows(rows, listing);
        const width = view.untruncated === true ? undefined : terminalWidth(stdout);
        return write(await table({ kind: 'rows', names, traits: listing.picked, cells, data: [] }, options, width));
      }
      default:
        return format satisfies never;
    }
  };
  return {
    format,
    list: (rows, view) => pages(toRowPages(rows), view),
    pages,
    checkColumns(view) {
      // The columns of a query result are known only after the query has run.
      if (query === undefined) pickColumns(view.columns, wanted);
    },
    async object(value, view) {
      const presented =
        query === undefined ? presentObject(value, view, wanted) : presentResult(query(value), view, [value], wanted);
      await print(presented, options, view.isReport);
    },
    async data(value) {
      const result = query === undefined ? value : query(value);
      if (format === 'table' && query === undefined && wanted === undefined) await stdout.write(jsonDocument(result));
      else await print(presentResult(result, { columns: [] }, [], wanted), options);
    },
    text: (text) => stdout.write(text.endsWith('\n') ? text : `${text}\n`),
    show: (text, max) => stderr.write(noticeLines(text, max)),
    async note(text, max) {
      if (!quiet) await stderr.write(noticeLines(text, max));
    },
    async warn(text) {
      const { yellow } = await createTerminalStyles(color);
      await stderr.write(`${yellow('warning:')} ${noticeLines(text)}`);
    },
    error: (error) => printError(error, { stderr, json: format === 'json' || format === 'ndjson', color }),
  };
}

function noticeLines(notice: Notice, max?: number): string {
  const texts = typeof notice === 'string' ? [notice] : notice;
  return texts.map((text) => `${indentLines(sanitizeLines(text, max))}\n`).join('');
}

/** An asynchronous source becomes one page for each row, an array becomes one page with all rows. */
async function* toRowPages<T>(rows: RowSource<T>): RowPages<T> {
  if (Symbol.asyncIterator in rows) for await (const row of rows) yield { rows: () => [row] };
  else yield { rows: () => [...rows] };
}

async function collectRows<T>(pages: RowPages<T>): Promise<readonly T[]> {
  const all: T[] = [];
  // Rows are pushed one at a time, because a function call cannot have 100,000 arguments.
  for await (const { rows } of pages) for (const row of rows()) all.push(row);
  return all;
}

async function* queryPages<T>(pages: RowPages<T>, query: JmespathQuery): RowPages<unknown> {
  for await (const { rows } of pages) {
    const result = query(rows());
    if (Array.isArray(result)) yield { rows: () => result };
  }
}

async function print(presented: PresentedData, options: OutputOptions, isReport?: boolean): Promise<void> {
  const { stdout, format, header } = options;
  switch (format) {
    case 'json':
      return stdout.write(jsonDocument(presented.data));
    case 'yaml':
      return stdout.write(await yamlDocument(presented.data));
    case 'ndjson': {
      const lines = presented.kind === 'rows' || presented.kind === 'values' ? presented.data : [presented.data];
      for (const line of lines) await stdout.write(ndjsonLine(line));
      return;
    }
    case 'csv': {
      const record = await csvRecord(stdout, isReport);
      if (header && 'names' in presented && presented.names.length > 0) await stdout.write(record(presented.names));
      for (const cells of cellRows(presented)) await stdout.write(record(cells));
      return;
    }
    case 'table':
      return stdout.write(await table(presented, options, terminalWidth(stdout)));
    default:
      return format satisfies never;
  }
}

function terminalWidth({ isTTY, columns }: OutputSink): number | undefined {
  return isTTY ? columns : undefined;
}

async function table(
  presented: PresentedData,
  { stdout, header, dataColor, now }: OutputOptions,
  width: number | undefined,
): Promise<string> {
  const traits: readonly ColumnTraits[] = ('traits' in presented ? presented.traits : undefined) ?? [];
  const shown = await createTerminalCells({ isTerminal: stdout.isTTY, color: dataColor, now });
  // A single object is printed vertically, with a column name and its value on each line.
  if (presented.kind === 'object') {
    const lines = presented.cells.map((cell, at) => [
      ...(header ? [presented.names[at] ?? ''] : []),
      shown.text(cell, traits[at]),
    ]);
    return formatTable({
      rows: lines,
      width,
      style: (text, column, row = 0) => shown.style(text, traits[row], header && column === 0),
    });
  }
  return formatTable({
    header: header && presented.kind === 'rows' && presented.names.length > 0 ? presented.names : undefined,
    rows: cellRows(presented).map((cells) => cells.map((cell, at) => shown.text(cell, traits[at]))),
    width,
    priorities: traits.map(({ priority }) => priority),
    style: (text, column, row) => shown.style(text, traits[column], row === undefined),
  });
}

function cellRows(presented: PresentedData): readonly (readonly Cell[])[] {
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

/** A file gets the data of a list unchanged; a terminal gets no control characters, a report no formulas either. */
async function csvRecord({ isTTY }: OutputSink, isReport = false): Promise<CsvRecordEncoder> {
  const record = await createCsvRecordEncoder();
  const printable = isReport ? spreadsheetCell : isTTY ? (text: string) => sanitizeLine(text, 10_000) : undefined;
  if (printable === undefined) return record;
  return (cells) => record(cells.map((cell) => (typeof cell === 'string' ? printable(cell) : cell)));
}
