import { usageError } from '../errors.ts';
import { type ExactNumber, isExactNumber, stringifyExact } from '../exact.ts';
import { printableInput } from './printable-input.ts';
import { nearestWord } from './suggest.ts';

export type Cell = string | number | boolean | ExactNumber | null | undefined;

export interface Column<T> {
  readonly name: string;
  readonly value: (row: T) => Cell;
  /** Printed only when `--format` names it. */
  readonly extra?: boolean;
  /**
   * Where a table is wider than the terminal, columns with a priority are left out, the greatest number first. Columns without
   * one stay, and those that `--format` names.
   */
  readonly priority?: number;
  /** How a terminal shows the cells: a state in its colour, a time relative to now. */
  readonly kind?: 'state' | 'time';
}

/** What a table on a terminal needs to know of a column. */
export type ColumnTraits = Pick<Column<unknown>, 'priority' | 'kind'>;

/** How an object or a list of objects is shown in formats with columns. */
export interface ListView<T> {
  /** Every column that `--format` accepts. */
  readonly columns: readonly Column<T>[];
  /** The table is not cut to the width of the terminal, because its cells are meant to be pasted. */
  readonly untruncated?: boolean;
  /** The cells are text for people and not data: in CSV none of them is a formula or has control characters. */
  readonly isReport?: boolean;
}

/** The columns to print: those of `--format` in its order, else every column that is not extra. Throws a usage error for an unknown name. */
export function pickColumns<T>(
  known: readonly Column<T>[],
  wanted: readonly string[] | undefined,
): readonly Column<T>[] {
  const names = wanted?.filter((name) => name !== '') ?? [];
  if (names.length === 0) return known.filter(({ extra }) => extra !== true);
  return names.map((name) => {
    const found = known.find((column) => column.name.toLowerCase() === name.toLowerCase());
    if (found === undefined)
      throw unknownColumnError(
        name,
        known.map((column) => column.name),
      );
    const { priority: _priority, ...kept } = found;
    return kept;
  });
}

/** The columns of rows whose shape is not known before, such as the result of a query: every key, in order of appearance. */
export function columnsFromRows(
  rows: readonly Readonly<Record<string, unknown>>[],
): readonly Column<Readonly<Record<string, unknown>>>[] {
  const keys = new Set(rows.flatMap((row) => Object.keys(row)));
  return [...keys].map((name) => ({
    name,
    value: (row) => (Object.hasOwn(row, name) ? toTableCell(row[name]) : undefined),
  }));
}

/** A scalar unchanged, an object or a list as JSON. */
export function toTableCell(value: unknown): Cell {
  switch (typeof value) {
    case 'string':
    case 'number':
    case 'boolean':
    case 'undefined':
      return value;
    default:
      return value === null || isExactNumber(value) ? value : stringifyExact(value);
  }
}

/** The chosen columns of a row as an object with the column names as keys. */
export function rowObject<T>(row: T, columns: readonly Column<T>[]): Readonly<Record<string, Cell>> {
  return Object.fromEntries(columns.map(({ name, value }) => [name, value(row) ?? null]));
}

function unknownColumnError(name: string, known: readonly string[]) {
  const meant = nearestWord(name, known);
  return usageError(
    `unknown column "${printableInput(name)}"`,
    meant === undefined
      ? `use known columns, such as \`--format ${known.slice(0, 2).join(',')}\``
      : `did you mean \`--format ${meant}\`?`,
    `known columns: ${known.join(', ')}`,
  );
}
