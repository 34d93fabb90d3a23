import { builtinAccessMethodOids, builtinSchemaOids, firstNormalObjectId } from '../../../postgresql/catalog-oids.ts';
import {
  decodeNumberColumnOrZero,
  decodeOptionalTextColumn,
  decodeTextColumn,
} from '../../../postgresql/decode-row.ts';
import type { PostgresqlPreflightQuery } from '../query.ts';
import { exclusivelyLockedRelationsSql } from './catalog-predicates.ts';

/** A permanent table, TOAST table or sequence whose file does not exist. */
export interface MissingRelationFile {
  readonly relation: string;
  /** Path of the file, relative to the data directory: `base/16384/16385`. */
  readonly path: string;
  /** Name of the tablespace, if its directory does not exist. */
  readonly tablespace: string | undefined;
}

export interface DatabaseStorageDamage {
  readonly missing: readonly MissingRelationFile[];
  /**
   * Number of pages of the database that failed their checksum when they were read, since the statistics were reset.
   */
  readonly checksumFailures: number;
  /** Time of the last checksum failure, as the server formats it. */
  readonly lastFailure: string;
}

/**
 * Only a superuser can query whether a file exists. For other roles, a relation counts as damaged if its size is 0 and
 * it had pages at its last VACUUM or ANALYZE, because TRUNCATE and VACUUM set the number of pages of an empty table to
 * 0. Tables with another access method than heap are left out, because they may store rows in other files. Locked
 * tables are left out, because reading the size of a file waits for an exclusive lock.
 */
export const storageDamageQuery: PostgresqlPreflightQuery<DatabaseStorageDamage> = {
  id: 'storage-damage',
  scope: 'database',
  sql: (version, { superuser }) => `
    SELECT
      'file' AS kind,
      c.oid::regclass::text AS name,
      pg_relation_filepath(c.oid) AS path,
      ${superuser ? lostTablespaceSql : 'NULL'} AS tablespace
    FROM pg_class c
    WHERE c.oid >= '${firstNormalObjectId}'
      AND c.relpersistence = 'p'
      AND c.relam IN ('0', '${builtinAccessMethodOids.heap}', '${builtinAccessMethodOids.btree}')
      AND (c.relkind IN ('r', 't', 'S') OR (c.relkind = 'i' AND c.relnamespace = '${builtinSchemaOids.pg_toast}'))
      AND ${superuser ? hasNoFileSql : hasLostPagesSql}
    ${version < 120_000 ? '' : checksumFailuresSql}
  `,
  decode: (rows) => {
    const failures = rows.find(({ kind }) => kind === 'checksum');
    return {
      missing: rows
        .filter(({ kind }) => kind === 'file')
        .map((row) => ({
          relation: decodeTextColumn(row, 'name'),
          path: decodeTextColumn(row, 'path'),
          tablespace: decodeOptionalTextColumn(row, 'tablespace'),
        })),
      checksumFailures: failures === undefined ? 0 : decodeNumberColumnOrZero(failures, 'name'),
      lastFailure: failures === undefined ? '' : decodeTextColumn(failures, 'path'),
    };
  },
  absent: { missing: [], checksumFailures: 0, lastFailure: '' },
};

/** pg_relation_filepath returns NULL for a relation that was dropped while the query ran. */
const hasNoFileSql = `
  pg_relation_filepath(c.oid) IS NOT NULL
    AND (pg_stat_file(pg_relation_filepath(c.oid), true)).size IS NULL
`;

const hasLostPagesSql = `
  CASE
    WHEN c.relpages = 0 OR c.oid IN ${exclusivelyLockedRelationsSql} THEN false
    ELSE pg_relation_size(c.oid) = 0
  END
`;

const lostTablespaceSql = `
  (
    SELECT quote_ident(t.spcname)
    FROM pg_tablespace t
    WHERE t.oid = c.reltablespace
      AND (pg_stat_file('pg_tblspc/' || t.oid, true)).size IS NULL
  )
`;

/** Checksum failures of shared catalogs have no database name in pg_stat_database. */
const checksumFailuresSql = `
  UNION ALL
  SELECT 'checksum', sum(checksum_failures)::text, max(checksum_last_failure)::timestamp(0)::text, NULL
  FROM pg_stat_database
  WHERE (datname = current_database() OR datid = '0')
    AND checksum_failures > 0
  HAVING count(*) > 0
`;
