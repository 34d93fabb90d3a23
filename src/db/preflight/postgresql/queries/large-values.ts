import { builtinTypeOids, firstNormalObjectId } from '../../../../postgresql/catalog-oids.ts';
import {
  decodeNumberColumnOrZero,
  decodeTextArrayColumn,
  decodeTextColumn,
} from '../../../../postgresql/decode-row.ts';
import type { PostgresqlPreflightQuery } from '../query.ts';
import { exclusivelyLockedRelationsSql } from './catalog-predicates.ts';
import { databaseFeatureOverviewQuery } from './database-overview.ts';

/** A table whose TOAST data is so large that a single row may be too long for COPY. */
export interface TableWithLargeValues {
  readonly table: string;
  /** Bytes of the TOAST table. */
  readonly bytes: number;
  /**
   * Quoted names of the columns that can have long values: `binaries` have the type bytea, `texts` have other types.
   */
  readonly binaries: readonly string[];
  readonly texts: readonly string[];
}

/**
 * The maximum bytes of a row as COPY and logical decoding write it; a server allocates no larger string (MaxAllocSize).
 */
export const maxPostgresqlRowBytes = 1024 ** 3;

/** COPY writes each byte of a bytea value as two hexadecimal digits. */
const byteaLimit = maxPostgresqlRowBytes / 2;

/** Tables with an ACCESS EXCLUSIVE lock are left out, because reading their size would wait for the lock. */
export const largeValuesQuery: PostgresqlPreflightQuery<readonly TableWithLargeValues[]> = {
  id: 'large-values',
  scope: 'database',
  when: (known) => {
    const seen = known(databaseFeatureOverviewQuery);
    return seen === undefined || seen.bytes > byteaLimit;
  },
  sql: () => `
    SELECT s.name, s.bytes, s.binaries, s.texts
    FROM (
      SELECT
        c.oid::regclass AS name,
        CASE
          WHEN c.oid NOT IN ${exclusivelyLockedRelationsSql} AND c.reltoastrelid NOT IN ${exclusivelyLockedRelationsSql}
            THEN pg_relation_size(c.reltoastrelid)
        END AS bytes,
        l.binaries,
        l.texts
      FROM pg_class c
      CROSS JOIN LATERAL (
        SELECT
          array_agg(quote_ident(a.attname) ORDER BY a.attnum) FILTER (WHERE a.atttypid = '${builtinTypeOids.bytea}') AS binaries,
          array_agg(quote_ident(a.attname) ORDER BY a.attnum) FILTER (WHERE a.atttypid <> '${builtinTypeOids.bytea}') AS texts
        FROM pg_attribute a
        WHERE a.attrelid = c.oid
          AND a.attnum > 0
          AND a.attlen = -1
          AND a.atttypmod = -1
          AND a.attstorage <> 'p'
          AND NOT a.attisdropped
      ) l
      WHERE c.oid >= '${firstNormalObjectId}'
        AND c.relkind = 'r'
        AND c.relpersistence = 'p'
        AND c.reltoastrelid <> '0'
    ) s
    WHERE s.bytes >= CASE
      WHEN s.binaries IS NOT NULL THEN ${byteaLimit}
      WHEN s.texts IS NOT NULL THEN ${maxPostgresqlRowBytes}
    END
    ORDER BY s.bytes DESC
  `,
  decode: (rows) =>
    rows.map((row) => ({
      table: decodeTextColumn(row, 'name'),
      bytes: decodeNumberColumnOrZero(row, 'bytes'),
      binaries: decodeTextArrayColumn(row, 'binaries'),
      texts: decodeTextArrayColumn(row, 'texts'),
    })),
  absent: [],
};
