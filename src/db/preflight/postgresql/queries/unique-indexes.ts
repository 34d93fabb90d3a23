import { builtinAccessMethodOids, firstNormalObjectId } from '../../../../postgresql/catalog-oids.ts';
import {
  decodeBooleanColumn,
  decodeNumberColumnOrZero,
  decodeTextArrayColumn,
  decodeTextColumn,
} from '../../../../postgresql/decode-row.ts';
import type { PostgresqlPreflightQuery } from '../query.ts';

/** A valid unique index of an ordinary table, not of a partitioned table. */
export interface UniqueIndex {
  readonly index: string;
  /** Object id of the table that has the index. */
  readonly table: number;
  readonly isBtree: boolean;
  readonly hasExpression: boolean;
  /** Whether the index contains only the rows that satisfy a condition. */
  readonly isPartial: boolean;
  readonly nullsEqual: boolean;
  readonly key: readonly IndexKeyColumn[];
}

export interface IndexKeyColumn {
  /** Number of the column in its table; 0: an expression. */
  readonly number: number;
  /** The type that the operator class compares; 0: a user defined the operator class. */
  readonly comparedType: number;
  /** Type modifier of the column, for example length or precision; -1 if it has none, or if its domain has one. */
  readonly typeModifier: number;
  /** Whether the collation is deterministic, so that equal texts have equal bytes. */
  readonly isDeterministic: boolean;
}

/** The INCLUDE columns of an index are not part of its key. The query is sent only with `--deep`. */
export const uniqueIndexesQuery: PostgresqlPreflightQuery<readonly UniqueIndex[]> = {
  id: 'unique-indexes',
  scope: 'database',
  sql: (version) => `
    SELECT
      i.indexrelid::regclass AS name,
      i.indrelid AS table_oid,
      x.relam = '${builtinAccessMethodOids.btree}' AS is_btree,
      i.indexprs IS NOT NULL AS has_expression,
      i.indpred IS NOT NULL AS is_partial,
      ${version < 150_000 ? 'false' : 'i.indnullsnotdistinct'} AS nulls_equal,
      k.numbers,
      k.types,
      k.modifiers,
      k.deterministic
    FROM pg_index i
    JOIN pg_class x ON x.oid = i.indexrelid
    JOIN pg_class c ON c.oid = i.indrelid
    CROSS JOIN LATERAL (
      SELECT
        array_agg(i.indkey[p] ORDER BY p) AS numbers,
        array_agg(CASE WHEN o.oid < '${firstNormalObjectId}' THEN o.opcintype ELSE 0 END ORDER BY p) AS types,
        array_agg(coalesce(a.atttypmod, -1) ORDER BY p) AS modifiers,
        array_agg(${version < 120_000 ? 'true' : 'coalesce(l.collisdeterministic, true)'} ORDER BY p) AS deterministic
      FROM generate_series(0, ${version < 110_000 ? 'i.indnatts' : 'i.indnkeyatts'} - 1) p
      JOIN pg_opclass o ON o.oid = i.indclass[p]
      LEFT JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[p]
      LEFT JOIN pg_collation l ON l.oid = i.indcollation[p]
    ) k
    WHERE i.indisunique
      AND i.indisvalid
      AND i.indrelid >= '${firstNormalObjectId}'
      AND c.relkind = 'r'
      AND c.relpersistence <> 't'
    ORDER BY 1
  `,
  decode: (rows) =>
    rows.map((row) => {
      const [types, modifiers, deterministic] = ['types', 'modifiers', 'deterministic'].map((name) =>
        decodeTextArrayColumn(row, name),
      );
      return {
        index: decodeTextColumn(row, 'name'),
        table: decodeNumberColumnOrZero(row, 'table_oid'),
        isBtree: decodeBooleanColumn(row, 'is_btree'),
        hasExpression: decodeBooleanColumn(row, 'has_expression'),
        isPartial: decodeBooleanColumn(row, 'is_partial'),
        nullsEqual: decodeBooleanColumn(row, 'nulls_equal'),
        key: decodeTextArrayColumn(row, 'numbers').map((number, at) => ({
          number: Number(number),
          comparedType: Number(types?.[at]),
          typeModifier: Number(modifiers?.[at]),
          isDeterministic: deterministic?.[at] === 't',
        })),
      };
    }),
  absent: [],
};
