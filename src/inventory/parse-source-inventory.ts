import { CliError } from '../base/errors.ts';
import { sanitizeLine } from '../base/sanitize.ts';
import {
  buildSourceInventoryEntry,
  type SourceInventoryEntry,
  type SourceInventoryEntryInput,
} from './source-inventory-entry.ts';
import { type SourceInventoryInputCells, sourceInventoryInputColumns } from './source-inventory-input-columns.ts';
import {
  type BadSourcesFileLine,
  parseSourcesFileLineFields,
  type SourcesFileLine,
  splitSourcesFileLines,
} from './split-sources-file-lines.ts';

export interface ParsedSourceInventory {
  readonly entries: readonly SourceInventoryEntry[];
  /** The invalid lines, in the order of the file. */
  readonly bad: readonly BadSourcesFileLine[];
}

/**
 * Parses an inventory: a URL or a service name on each line, or CSV with a header. Opens no connection. Every line that
 * cannot be used is in `bad`.
 */
export function parseSourceInventory(bytes: Uint8Array, input: SourceInventoryEntryInput): ParsedSourceInventory {
  const { lines, bad } = splitSourcesFileLines(bytes);
  const cells: (readonly [number, SourceInventoryInputCells])[] = [];
  const found: BadSourcesFileLine[] = [...bad];
  const [first, ...rest] = lines;
  const header = first === undefined ? undefined : readHeader(first);
  if (header === undefined) cells.push(...lines.map((one) => [one.line, cellsOfLine(one)] as const));
  else if ('reason' in header) found.push({ line: first?.line ?? 1, reason: header.reason });
  else
    for (const { line, text } of rest) {
      const record = cellsOfRecord(header.columns, text);
      if ('reason' in record) found.push({ line, reason: record.reason });
      else cells.push([line, record.cells]);
    }
  const entries = parseSourceInventoryEntries(cells, input, found);
  return { entries, bad: found.sort((a, b) => a.line - b.line) };
}

/** Builds an entry for each line; a line that is invalid, or has the name of an earlier line, is added to `bad`. */
function parseSourceInventoryEntries(
  all: readonly (readonly [line: number, cells: SourceInventoryInputCells])[],
  input: SourceInventoryEntryInput,
  bad: BadSourcesFileLine[],
): readonly SourceInventoryEntry[] {
  const lineOfName = new Map<string, number>();
  return all.flatMap(([line, cells]) => {
    try {
      const entry = buildSourceInventoryEntry(cells, line, input);
      const earlier = lineOfName.get(entry.name);
      if (earlier !== undefined) {
        bad.push({ line, reason: `has the same source or name as line ${earlier}` });
        return [];
      }
      lineOfName.set(entry.name, line);
      return [entry];
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      // The parser of the URL names the option of a single source.
      bad.push({ line, reason: sanitizeLine(error.message).replaceAll('--source', 'the URL') });
      return [];
    }
  });
}

function cellsOfLine({ text }: SourcesFileLine): SourceInventoryInputCells {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? { url: text } : { service: text };
}

type Header = { readonly columns: readonly string[] } | { readonly reason: string };

/** A first line is a header if it names a column of a source; undefined for a list of URLs and services. */
function readHeader({ text }: SourcesFileLine): Header | undefined {
  if (text.includes('://')) return undefined;
  const record = parseSourcesFileLineFields(text);
  if ('reason' in record) return undefined;
  const columns = record.map((name) => name.toLowerCase());
  if (!columns.some((name) => ['url', 'service', 'host'].includes(name))) {
    return columns.length === 1 ? undefined : { reason: 'is a header without the column url, service or host' };
  }
  if (columns.includes('password'))
    return { reason: 'has the column password: use .pgpass, PGPASSWORD or password_command' };
  const known = new Set(sourceInventoryInputColumns.map(({ name }) => name));
  const position = columns.findIndex((name) => !known.has(name));
  if (position >= 0)
    return { reason: `has an unknown column (number ${position + 1}); known are ${[...known].join(', ')}` };
  const repeated = columns.find((name, at) => columns.indexOf(name) !== at);
  return repeated === undefined ? { columns } : { reason: `has the column ${repeated} twice` };
}

function cellsOfRecord(
  columns: readonly string[],
  text: string,
): { readonly cells: SourceInventoryInputCells } | { readonly reason: string } {
  const fields = parseSourcesFileLineFields(text);
  if ('reason' in fields) return fields;
  if (fields.length !== columns.length)
    return { reason: `has ${fields.length} fields, and the header has ${columns.length}` };
  return {
    cells: Object.fromEntries(columns.flatMap((name, at) => (fields[at] === '' ? [] : [[name, fields[at]!]]))),
  };
}
