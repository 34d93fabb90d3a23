import type { Cell, Column } from './columns.ts';
import { jsonElements } from './formats/json.ts';
import { ndjsonLines, printableLines } from './formats/ndjson.ts';
import { yamlDocument } from './formats/yaml.ts';
import { rowToData } from './present.ts';

export interface ListWriteOptions<T> {
  /** The columns to print. */
  readonly picked: readonly Column<T>[];
  /** Whether they were asked for: then JSON and YAML hold them alone. */
  readonly wanted: readonly string[] | undefined;
  readonly header: boolean;
  readonly write: (data: string | Uint8Array) => Promise<void>;
}

/** Rows that come together. */
export interface RowPage<T> {
  readonly rows: () => readonly T[];
  /** The rows as JSON texts, each on one line, where they came as such and need not be written again. */
  readonly lines?: () => Uint8Array;
}

export type RowPages<T> = AsyncGenerator<RowPage<T>>;

/** Lines that are printed as their page comes; a slow reader slows the pages down. */
export async function streamNdjson<T>(
  pages: RowPages<T>,
  { picked, wanted, write }: ListWriteOptions<T>,
): Promise<void> {
  const data = rowToData(picked, wanted);
  for await (const { rows, lines } of pages) {
    const isAsItCame = wanted === undefined && lines !== undefined;
    await write(isAsItCame ? printableLines(lines()) : ndjsonLines(rows().map(data)));
  }
}

/** The same as records below a header. */
export async function streamCsv<T>(
  pages: RowPages<T>,
  { picked, header, write }: ListWriteOptions<T>,
  record: (cells: readonly Cell[]) => string,
): Promise<void> {
  // With the first rows, so that a list that cannot be read at all leaves nothing behind.
  let head = header ? record(picked.map(({ name }) => name)) : '';
  for await (const { rows } of pages) {
    const lines = rows().map((row) => record(picked.map(({ value }) => value(row))));
    await write(head + lines.join(''));
    head = '';
  }
  if (head !== '') await write(head);
}

/** One array, printed when it is whole. Until then it is held as text, which is smaller than the objects it was made of. */
export async function bufferJson<T>(pages: RowPages<T>, { picked, wanted, write }: ListWriteOptions<T>): Promise<void> {
  const held = await bufferPages(pages, (rows) => jsonElements(rows.map(rowToData(picked, wanted))));
  if (held.length === 0) return write('[]\n');
  // Piece by piece: a hundred thousand droplets are longer than a string can be.
  for (const [at, text] of held.entries()) await write(`${at === 0 ? '[\n' : ',\n'}${text.toString('utf8')}`);
  await write('\n]\n');
}

/** The same in YAML, where a sequence is no more than its elements one after another. */
export async function bufferYaml<T>(pages: RowPages<T>, { picked, wanted, write }: ListWriteOptions<T>): Promise<void> {
  const held = await bufferPages(pages, (rows) => yamlDocument(rows.map(rowToData(picked, wanted))));
  if (held.length === 0) return write(await yamlDocument([]));
  for (const text of held) await write(text.toString('utf8'));
}

/** The cells of a table, whose widths are known at its end. */
export async function bufferCells<T>(
  pages: RowPages<T>,
  { picked }: ListWriteOptions<T>,
): Promise<readonly (readonly Cell[])[]> {
  const held: (readonly Cell[])[] = [];
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
