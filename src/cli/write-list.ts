import type { CellValue, OutputColumn } from './columns.ts';
import { jsonElements, ndjsonLines } from './formats.ts';
import { rowMapper } from './print.ts';

interface ListWriteOptions<T> {
  /** The columns to print. */
  readonly picked: readonly OutputColumn<T>[];
  /** The columns that `--format` names; if it is set, JSON and YAML contain only these columns. */
  readonly wanted: readonly string[] | undefined;
  readonly header: boolean;
  readonly write: (data: string | Uint8Array) => Promise<void>;
}

/** Rows of a list that arrive together in one response. */
interface OutputRowPage<T> {
  readonly rows: () => readonly T[];
}

export type RowPages<T> = AsyncGenerator<OutputRowPage<T>>;

/**
 * Prints one JSON line for each row as soon as the page with the row arrives. A slow reader of the output delays the next
 * request.
 */
export async function streamNdjson<T>(
  pages: RowPages<T>,
  { picked, wanted, write }: ListWriteOptions<T>,
): Promise<void> {
  const data = rowMapper(picked, wanted);
  for await (const { rows } of pages) await write(ndjsonLines(rows().map(data)));
}

/** Prints a header line, and one CSV record for each row as soon as the page with the row arrives. */
export async function streamCsv<T>(
  pages: RowPages<T>,
  { picked, header, write }: ListWriteOptions<T>,
  record: (cells: readonly CellValue[]) => string,
): Promise<void> {
  // The CSV header is printed together with the first rows, so that the output stays empty if the first request fails.
  let head = header ? record(picked.map(({ name }) => name)) : '';
  for await (const { rows } of pages) {
    const lines = rows().map((row) => record(picked.map(({ value }) => value(row))));
    await write(head + lines.join(''));
    head = '';
  }
  if (head !== '') await write(head);
}

/**
 * Prints all rows as one JSON array after the last page has arrived. Until the last page has arrived, the rows are kept as JSON
 * text, which needs less memory than objects.
 */
export async function writeJson<T>(pages: RowPages<T>, { picked, wanted, write }: ListWriteOptions<T>): Promise<void> {
  const held = await bufferPages(pages, (rows) => jsonElements(rows.map(rowMapper(picked, wanted))));
  if (held.length === 0) return write('[]\n');
  // The JSON array is written in pieces, because the JSON text of 100,000 droplets exceeds the maximum length of a string.
  for (const [at, text] of held.entries()) await write(`${at === 0 ? '[\n' : ',\n'}${text.toString('utf8')}`);
  await write('\n]\n');
}

/** Prints all rows as one YAML sequence after the last page has arrived. */
export async function writeYaml<T>(pages: RowPages<T>, { picked, wanted, write }: ListWriteOptions<T>): Promise<void> {
  const { yamlDocument } = await import('./yaml.ts');
  const held = await bufferPages(pages, (rows) => yamlDocument(rows.map(rowMapper(picked, wanted))));
  if (held.length === 0) return write(yamlDocument([]));
  for (const text of held) await write(text.toString('utf8'));
}

/** Collects the cells of a table, because the column widths are known only after the last page. */
export async function tableRows<T>(
  pages: RowPages<T>,
  { picked }: ListWriteOptions<T>,
): Promise<readonly (readonly CellValue[])[]> {
  const held: (readonly CellValue[])[] = [];
  for await (const { rows } of pages) for (const row of rows()) held.push(picked.map(({ value }) => value(row)));
  return held;
}

async function bufferPages<T>(
  pages: RowPages<T>,
  textOf: (rows: readonly T[]) => string | Promise<string>,
): Promise<readonly Buffer[]> {
  const held: Buffer[] = [];
  for await (const { rows } of pages) {
    const page = rows();
    if (page.length > 0) held.push(Buffer.from(await textOf(page), 'utf8'));
  }
  return held;
}
