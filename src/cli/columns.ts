import { usageError } from '../base/errors.ts';
import { isLossless, type LosslessNumber, stringifyExact } from '../base/exact.ts';
import { nearestList, nearestWord, shortenInput } from './values.ts';

export type CellValue = string | number | boolean | LosslessNumber | null | undefined;

export interface OutputColumn<T> {
  readonly name: string;
  readonly value: (row: T) => CellValue;
  /** An extra column is printed only when `--format` names it. */
  readonly extra?: boolean;
  /**
   * When a table is wider than the terminal, columns with a priority are omitted, the greatest priority number first. Columns
   * without a priority, and columns that `--format` names, are never omitted.
   */
  readonly priority?: number;
  /** How a terminal shows the cells of a column: a status in its colour, a time relative to now. */
  readonly kind?: 'state' | 'time';
  /** The http URL that the cell leads to on a terminal. */
  readonly link?: (cell: CellValue) => string | undefined;
}

/** The properties of a column that affect how a table is printed on a terminal. */
export type ColumnTraits = Pick<OutputColumn<unknown>, 'priority' | 'kind' | 'link'>;

/** How an object or a list of objects is shown in formats with columns. */
export interface ListView<T> {
  /** Every column that `--format` accepts. */
  readonly columns: readonly OutputColumn<T>[];
  /** The table is not cut to the width of the terminal, because users paste its cells. */
  readonly untruncated?: boolean;
  /**
   * The cells contain text for people and not data: in CSV they are protected against being read as formulas and have no
   * control characters.
   */
  readonly isReport?: boolean;
}

/** Returns a copy of the view in which the cells of one column are hyperlinks. */
export function linkColumn<T>(view: ListView<T>, name: string, link: (text: string) => string): ListView<T> {
  const linkOf = (cell: CellValue) =>
    cell === undefined || cell === null || cell === '' ? undefined : link(String(cell));
  return {
    ...view,
    columns: view.columns.map((column) => (column.name === name ? { ...column, link: linkOf } : column)),
  };
}

/**
 * The columns to print: the columns of `--format` in its order, else every column that is not extra. Throws a usage error for
 * an unknown column name.
 */
export function pickColumns<T>(
  known: readonly OutputColumn<T>[],
  wanted: readonly string[] | undefined,
): readonly OutputColumn<T>[] {
  const names = wanted?.filter((name) => name !== '') ?? [];
  if (names.length === 0) return known.filter(({ extra }) => extra !== true);
  return names.map((name) => {
    const found = known.find((column) => column.name.toLowerCase() === name.toLowerCase());
    if (found === undefined)
      throw unknownColumnError(
        name,
        names,
        known.map((column) => column.name),
      );
    const { priority: _priority, ...kept } = found;
    return kept;
  });
}

/** The columns of rows whose shape is not known in advance, such as the result of a query: every key, in order of appearance. */
export function columnsOfRows(
  rows: readonly Readonly<Record<string, unknown>>[],
): readonly OutputColumn<Readonly<Record<string, unknown>>>[] {
  const keys = new Set(rows.flatMap((row) => Object.keys(row)));
  return [...keys].map((name) => ({
    name,
    value: (row) => (Object.hasOwn(row, name) ? toCell(row[name]) : undefined),
  }));
}

/** Returns a scalar unchanged, and an object or a list as JSON text. */
export function toCell(value: unknown): CellValue {
  switch (typeof value) {
    case 'string':
    case 'number':
    case 'boolean':
    case 'undefined':
      return value;
    default:
      return value === null || isLossless(value) ? value : stringifyExact(value);
  }
}

/** The chosen columns of a row as an object with the column names as keys. */
export function rowObject<T>(row: T, columns: readonly OutputColumn<T>[]): Readonly<Record<string, CellValue>> {
  return Object.fromEntries(columns.map(({ name, value }) => [name, value(row) ?? null]));
}

function unknownColumnError(name: string, typed: readonly string[], known: readonly string[]) {
  const meant = nearestList(
    typed,
    (one) => known.find((column) => column.toLowerCase() === one.toLowerCase()) ?? nearestWord(one, known),
  );
  return usageError(
    `unknown column "${shortenInput(name)}"`,
    meant === undefined
      ? `use known columns, such as \`--format ${known.slice(0, 2).join(',')}\``
      : `did you mean \`--format ${meant.join(',')}\`?`,
    `known columns: ${known.join(', ')}`,
  );
}
