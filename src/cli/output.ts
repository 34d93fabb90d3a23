import type { CliError } from '../base/errors.ts';
import { indentLines, sanitizeLines } from '../base/sanitize.ts';
import type { OutputSink } from '../platform/host.ts';
import { createStyles } from './color.ts';
import type { ListView } from './columns.ts';
import { pickColumns } from './columns.ts';
import { printError } from './error-output.ts';
import { jsonDocument } from './formats.ts';
import type { PagerPrinter } from './pager-printer.ts';
import {
  type DisplayOptions,
  type OutputFormat,
  type PreparedOutput,
  type PrintOptions,
  prepareObject,
  prepareResult,
  prepareRows,
  printPrepared,
  renderTable,
  safeCsvEncoder,
} from './print.ts';
import { type JmespathQuery, ofResult, QueriedData } from './query.ts';
import { wrapForTerminal } from './text.ts';
import type { RowPages } from './write-list.ts';
import { streamCsv, streamNdjson, tableRows, writeJson, writeYaml } from './write-list.ts';

export interface OutputOptions extends PrintOptions {
  readonly stderr: OutputSink;
  /** The column names of `--format`. */
  readonly columns?: readonly string[] | undefined;
  readonly query?: JmespathQuery | undefined;
  readonly quiet: boolean;
  /** The error as it is printed, with what only the command knows in its hint. */
  readonly describe?: (error: CliError) => CliError;
  /** Colour on stderr. */
  readonly color: boolean;
  /** Prints a text through a pager if it is longer than the screen. Without this function, the text goes to `stdout`. */
  readonly paged?: PagerPrinter;
}

export interface OutputWriter {
  readonly format: OutputFormat;
  /**
   * Prints rows. In ndjson and csv each row is printed at once; the other formats wait for the last row, so that stdout stays
   * empty after an error.
   */
  list<T>(rows: OutputRowSource<T>, view: ListView<T>): Promise<void>;
  /** Prints rows that the server returns in pages. */
  pages<T>(pages: RowPages<T>, view: ListView<T>): Promise<void>;
  /** Throws a usage error for an unknown column of `--format`; for commands that work before they print the first row. */
  checkColumns<T>(view: ListView<T>): void;
  /** Returns the rows as the text of the table that `list` would print. */
  tableText<T>(rows: readonly T[], view: ListView<T>): Promise<string>;
  /** Prints one object. */
  object<T>(value: T, view: ListView<T>): Promise<void>;
  /** Prints data whose columns are not known: the table format prints it as JSON, unless a query or `--format` names columns. */
  data(value: unknown): Promise<void>;
  /** Prints text unchanged in every format, such as a script. */
  text(text: string): Promise<void>;
  /** Prints a secret that the user asked for; everywhere else secrets are removed from what is printed. */
  secret(text: string): Promise<void>;
  /** Prints text unchanged in every format; text that is longer than the screen is shown in a pager. */
  report(text: string): Promise<void>;
  /**
   * Prints sentences. On a terminal, long lines are broken at spaces; text that is longer than the screen is shown in a
   * pager.
   */
  prose(text: string): Promise<void>;
  /**
   * Prints text that the user needs to continue to stderr, even with `--quiet`. Each printed text is cut at `max` characters
   * (default: 4000).
   */
  show(text: OutputNotice, max?: number): Promise<void>;
  /** Prints a notice to stderr, unless `--quiet` is set. Each text of a notice is cut at `max` characters (default: 4000). */
  note(text: OutputNotice, max?: number): Promise<void>;
  /** Prints a warning to stderr. */
  warn(text: string): Promise<void>;
  /** Prints an error to stderr: as three lines of text, or in the JSON formats as one JSON object. */
  error(error: CliError): Promise<void>;
}

/**
 * A notice is one text, or a list of texts with one line each. A line break inside a text is followed by a space, so that
 * only the texts themselves begin in the first column.
 */
type OutputNotice = string | readonly string[];

type OutputRowSource<T> = AsyncIterable<T> | Iterable<T>;

/** The output of a command: data to stdout, everything else to stderr. */
export function createOutput(options: OutputOptions): OutputWriter {
  const { stdout, stderr, format, columns, query, quiet, color } = options;
  const wanted = columns === undefined || columns.length === 0 ? undefined : columns;
  const paged = options.paged ?? ((print) => print(stdout));
  const printPaged = (presented: PreparedOutput, view?: DisplayOptions): Promise<void> =>
    paged((sink) => printPrepared(presented, { ...options, stdout: sink }, view));
  const note: OutputWriter['note'] = async (text, max) => {
    if (!quiet) await stderr.write(await noticeLines(text, widthOf(stderr), max));
  };
  /**
   * Returns the part of the data that the query selects. The formats table and csv would print nothing for null and for an
   * empty list whose columns are not known, so they print a notice. A field that does not exist is told in every format but json,
   * whose standard error is empty or one error object.
   */
  const queryResult = async (data: unknown, view?: { readonly columns: readonly unknown[] }): Promise<unknown> => {
    if (query === undefined) return data;
    const queried = new QueriedData(query);
    const result = queried.query(data);
    const notice = queried.notice();
    if (format === 'json') return result;
    if (notice !== undefined) await note(notice);
    else if (format === 'table' || format === 'csv') {
      if (result === null) await note('The result of --query is null.');
      // A list with known columns has a header.
      else if (view === undefined && Array.isArray(result) && result.length === 0)
        await note('The result of --query is an empty list.');
    }
    return result;
  };
  const pages: OutputWriter['pages'] = async (rows, view) => {
    const write = (data: string | Uint8Array): Promise<void> => stdout.write(data);
    if (query !== undefined) {
      if (format === 'ndjson' && query.isItemwise && wanted === undefined) {
        const queried = new QueriedData(query);
        await streamNdjson(queryPages(rows, queried), { picked: [], wanted, header: false, write });
        const notice = queried.notice();
        if (notice !== undefined) await note(notice);
        return;
      }
      const all = await collectRows(rows);
      const result = await queryResult(all, view);
      return printPaged(
        ofResult(() => prepareResult(result, view, all, wanted, query.emptyColumns)),
        view,
      );
    }
    // Throws a usage error for unknown columns before the first row is requested.
    const listing = { picked: pickColumns(view.columns, wanted), wanted, header: options.header, write };
    switch (format) {
      case 'ndjson':
        return streamNdjson(rows, listing);
      case 'csv':
        return streamCsv(rows, listing, await safeCsvEncoder(stdout, view.isReport));
      case 'json':
        return paged((sink) => writeJson(rows, { ...listing, write: sink.write }));
      case 'yaml':
        return paged((sink) => writeYaml(rows, { ...listing, write: sink.write }));
      case 'table': {
        const names = listing.picked.map(({ name }) => name);
        const cells = await tableRows(rows, listing);
        return printPaged({ kind: 'rows', names, traits: listing.picked, cells, data: [] }, view);
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
    tableText: (rows, view) => renderTable(prepareRows(rows, view, wanted), options, view.untruncated),
    async object(value, view) {
      const result = await queryResult(value, view);
      const presented =
        query === undefined
          ? prepareObject(value, view, wanted)
          : ofResult(() => prepareResult(result, view, [value], wanted, query.emptyColumns));
      await printPaged(presented, view);
    },
    async data(value) {
      const result = await queryResult(value);
      if (format === 'table' && query === undefined && wanted === undefined)
        await paged((sink) => sink.write(jsonDocument(result)));
      else await printPaged(ofResult(() => prepareResult(result, { columns: [] }, [], wanted, query?.emptyColumns)));
    },
    text: (text) => stdout.write(withNewline(text)),
    // The output removes secrets from text, not from bytes.
    secret: (text) => stdout.write(Buffer.from(withNewline(text))),
    report: (text) => paged((sink) => sink.write(withNewline(text))),
    prose: (text) => paged(async (sink) => sink.write(withNewline(await wrapForTerminal(text, widthOf(stdout))))),
    show: async (text, max) => stderr.write(await noticeLines(text, widthOf(stderr), max)),
    note,
    async warn(text) {
      const { yellow } = await createStyles(color);
      const label = 'warning:';
      const lines = await noticeLines(`${label} ${text}`, widthOf(stderr));
      await stderr.write(`${yellow(label)}${lines.slice(label.length)}`);
    },
    error: (error) =>
      printError(options.describe?.(error) ?? error, { stderr, json: format === 'json' || format === 'ndjson', color }),
  };
}

function withNewline(text: string): string {
  return text.endsWith('\n') ? text : `${text}\n`;
}

async function noticeLines(notice: OutputNotice, columns: number | undefined, max?: number): Promise<string> {
  const texts = typeof notice === 'string' ? [notice] : notice;
  if (texts.length === 0) return '';
  const lines = texts.map((text) => indentLines(sanitizeLines(text, max)));
  return `${await wrapForTerminal(lines.join('\n'), columns)}\n`;
}

/**
 * The terminal width at which sentences are wrapped; undefined without a terminal, because only people need wrapped lines.
 */
function widthOf({ isTTY, columns }: OutputSink): number | undefined {
  return isTTY ? columns : undefined;
}

/** Converts rows to pages: each row of an async iterable is one page, and all rows of an array are one page. */
async function* toRowPages<T>(rows: OutputRowSource<T>): RowPages<T> {
  if (Symbol.asyncIterator in rows) for await (const row of rows) yield { rows: () => [row] };
  else yield { rows: () => [...rows] };
}

async function collectRows<T>(pages: RowPages<T>): Promise<readonly T[]> {
  const all: T[] = [];
  // Rows are pushed one at a time, because a function call cannot have 100,000 arguments.
  for await (const { rows } of pages) for (const row of rows()) all.push(row);
  return all;
}

async function* queryPages<T>(pages: RowPages<T>, queried: QueriedData): RowPages<unknown> {
  for await (const { rows } of pages) {
    const result = queried.query(rows());
    if (Array.isArray(result)) yield { rows: () => result };
  }
}
