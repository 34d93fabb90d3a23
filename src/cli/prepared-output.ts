import { isLosslessNumberObject } from '../base/exact.ts';
import type { ListView, OutputCellValue, OutputColumn, OutputColumnTraits } from './columns.ts';
import { buildOutputRowObject, deriveOutputColumnsFromRows, pickOutputColumns, toOutputCellValue } from './columns.ts';

/** The data to print, in the shapes that the output formats distinguish; JSON and YAML print `data`. */
export type PreparedOutput =
  | {
      readonly kind: 'rows';
      readonly names: readonly string[];
      readonly traits?: readonly OutputColumnTraits[];
      readonly cells: readonly OutputCellRow[];
      readonly data: readonly unknown[];
    }
  | {
      readonly kind: 'object';
      readonly names: readonly string[];
      readonly traits?: readonly OutputColumnTraits[];
      readonly cells: OutputCellRow;
      readonly data: unknown;
    }
  | { readonly kind: 'values'; readonly cells: readonly OutputCellRow[]; readonly data: readonly unknown[] }
  | { readonly kind: 'value'; readonly cell: OutputCellValue; readonly data: unknown };

export type OutputCellRow = readonly OutputCellValue[];

/** Returns the function that maps a row to its JSON: the row itself, or its chosen columns if `--format` names columns. */
export function createRowToJsonMapper<T>(
  columns: readonly OutputColumn<T>[],
  wanted: readonly string[] | undefined,
): (row: T) => unknown {
  return wanted === undefined ? (row) => row : (row) => buildOutputRowObject(row, columns);
}

export function prepareRowsForOutput<T>(
  rows: readonly T[],
  { columns }: ListView<T>,
  wanted: readonly string[] | undefined,
): PreparedOutput {
  const picked = pickOutputColumns(columns, wanted);
  return {
    kind: 'rows',
    names: picked.map(({ name }) => name),
    traits: picked,
    cells: rows.map((row) => picked.map(({ value }) => value(row))),
    data: rows.map(createRowToJsonMapper(picked, wanted)),
  };
}

export function prepareObjectForOutput<T>(
  object: T,
  { columns }: ListView<T>,
  wanted: readonly string[] | undefined,
): PreparedOutput {
  const picked = pickOutputColumns(columns, wanted);
  return {
    kind: 'object',
    names: picked.map(({ name }) => name),
    traits: picked,
    cells: picked.map(({ value }) => value(object)),
    data: createRowToJsonMapper(picked, wanted)(object),
  };
}

/**
 * Prepares the result of a query, which may have any shape. Rows that a query selected unchanged keep the columns of their
 * view; for new objects, the columns are their keys. @param emptyColumns the columns of an empty list that are not those of the
 * view
 */
export function prepareJmespathResultForOutput<T>(
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
            : (wanted ?? emptyColumns ?? pickOutputColumns(view.columns, undefined).map(({ name }) => name)),
        cells: [],
        data: [],
      };
    }
    if (elements.every(isOriginal)) return prepareRowsForOutput(elements, view, wanted);
    if (elements.every(isObject))
      return prepareRowsForOutput(elements, { columns: deriveOutputColumnsFromRows(elements) }, wanted);
    return { kind: 'values', cells: elements.map(cellsOfValue), data: elements };
  }
  if (isOriginal(result)) return prepareObjectForOutput(result, view, wanted);
  if (isObject(result))
    return prepareObjectForOutput(result, { columns: deriveOutputColumnsFromRows([result]) }, wanted);
  return { kind: 'value', cell: toOutputCellValue(result), data: result };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isLosslessNumberObject(value);
}

function cellsOfValue(value: unknown): OutputCellRow {
  return Array.isArray(value) ? value.map(toOutputCellValue) : [toOutputCellValue(value)];
}
