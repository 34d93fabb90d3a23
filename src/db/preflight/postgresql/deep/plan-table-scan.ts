import { builtinTypeOids } from '../../../../postgresql/catalog-oids.ts';
import type { TableToRead } from '../queries/tables-to-read.ts';
import type { IndexKeyColumn, UniqueIndex } from '../queries/unique-indexes.ts';
import type { ScannedUniqueKey } from './row-key-and-encoding-scanner.ts';

/** Why the keys of a unique index are not compared. */
export type UncheckedUniqueKeyReason =
  | 'expression'
  | 'partial_index'
  | 'access_method'
  | 'operator_class'
  | 'collation'
  | 'type'
  | 'generated_column'
  | 'too_many_rows'
  | 'table_not_read';

/** A unique index whose keys were not compared. */
export interface UncheckedUniqueIndex {
  readonly index: string;
  readonly table: string;
  readonly reason: UncheckedUniqueKeyReason;
}

export interface ComparableUniqueKey extends ScannedUniqueKey {
  readonly index: string;
  /** The names of the columns of the key, as the catalog contains them. */
  readonly names: readonly string[];
}

/** Which columns of a table are read, and which unique keys are compared. */
export interface TableScanPlan {
  /** Names of the columns in the order of COPY: those of keys first. */
  readonly columns: readonly string[];
  /** Number of names at the start of `columns` that belong to unique keys. */
  readonly keyColumns: number;
  readonly keys: readonly ComparableUniqueKey[];
  readonly unchecked: readonly UncheckedUniqueIndex[];
}

/** @param indexes the unique indexes of the table */
export function planTableScan({ table, columns }: TableToRead, indexes: readonly UniqueIndex[]): TableScanPlan {
  const judged = indexes.map((index) => ({ index, reason: obstacleOf(index, columns) }));
  const comparable = judged.filter(({ reason }) => reason === undefined).map(({ index }) => index);
  const inKeys = [...new Set(comparable.flatMap(({ key }) => key.map(({ number }) => number)))];
  const others = [...columns.keys()].filter((number) => !inKeys.includes(number));
  return {
    columns: [...inKeys, ...others].flatMap((number) => columns.get(number) ?? []),
    keyColumns: inKeys.length,
    keys: comparable.map(({ index, key, nullsEqual }) => ({
      index,
      nullsEqual,
      names: key.flatMap(({ number }) => columns.get(number) ?? []),
      columns: key.map(({ number }) => inKeys.indexOf(number)),
    })),
    unchecked: judged.flatMap(({ index, reason }) =>
      reason === undefined ? [] : [{ index: index.index, table, reason }],
    ),
  };
}

function obstacleOf(index: UniqueIndex, columns: ReadonlyMap<number, string>): UncheckedUniqueKeyReason | undefined {
  if (!index.isBtree) return 'access_method';
  if (index.isPartial) return 'partial_index';
  if (index.hasExpression) return 'expression';
  // Only generated columns are missing in `columns`, because COPY cannot read them; a key has no system columns.
  if (index.key.some(({ number }) => !columns.has(number))) return 'generated_column';
  if (index.key.some(({ comparedType }) => comparedType === 0)) return 'operator_class';
  if (index.key.some(({ isDeterministic }) => !isDeterministic)) return 'collation';
  return index.key.every(isEqualByBytes) ? undefined : 'type';
}

/**
 * Whether two values of the column are equal if, and only if, they have the same text. This is false for float (0 and
 * -0), interval (24:00:00 and 1 day), jsonb, arrays, ranges and composites. For numeric and character it is true only
 * with a fixed scale or length.
 */
export function isEqualByBytes({
  comparedType,
  typeModifier,
}: Pick<IndexKeyColumn, 'comparedType' | 'typeModifier'>): boolean {
  if (comparedType === builtinTypeOids.numeric || comparedType === builtinTypeOids.bpchar) return typeModifier >= 0;
  return typesEqualByBytes.has(comparedType);
}

const typesEqualByBytes: ReadonlySet<number> = new Set([
  builtinTypeOids.bool,
  builtinTypeOids.bytea,
  builtinTypeOids.char,
  builtinTypeOids.name,
  builtinTypeOids.int8,
  builtinTypeOids.int2,
  builtinTypeOids.int4,
  builtinTypeOids.text,
  builtinTypeOids.oid,
  builtinTypeOids.macaddr8,
  builtinTypeOids.macaddr,
  builtinTypeOids.inet,
  builtinTypeOids.date,
  builtinTypeOids.time,
  builtinTypeOids.timestamp,
  builtinTypeOids.timestamptz,
  builtinTypeOids.bit,
  builtinTypeOids.varbit,
  builtinTypeOids.uuid,
  builtinTypeOids.pg_lsn,
  builtinTypeOids.anyenum,
]);
