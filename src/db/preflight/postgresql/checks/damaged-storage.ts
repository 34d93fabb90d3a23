import { countOf } from '../../../../base/text.ts';
import { accessMethodOids, firstNormalOid, schemaOids } from '../../../../postgresql/catalog-oids.ts';
import { decodeNumber, decodeOptionalText, decodeText } from '../../../../postgresql/rows.ts';
import { type CheckOutcome, failOutcome, passOutcome, unknownOutcome, warnOutcome } from '../../finding.ts';
import { declareDatabaseCheck, incompleteScanOutcome, limitObjects, unlistedNote } from '../check.ts';
import type { UnreadTable } from '../deep/results.ts';
import { lockedRelationsSql } from '../queries/catalog-predicates.ts';
import type { PostgresqlQuery } from '../query.ts';

/** A permanent table, TOAST table or sequence whose file does not exist. */
interface MissingFile {
  readonly relation: string;
  /** Path of the file, relative to the data directory: `base/16384/16385`. */
  readonly path: string;
  /** Name of the tablespace, if its directory does not exist. */
  readonly tablespace: string | undefined;
}

export interface StorageDamage {
  readonly missing: readonly MissingFile[];
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
const storageDamageQuery: PostgresqlQuery<StorageDamage> = {
  id: 'storage-damage',
  scope: 'database',
  sql: (version, { superuser }) => `
    SELECT
      'file' AS kind,
      c.oid::regclass::text AS name,
      pg_relation_filepath(c.oid) AS path,
      ${superuser ? lostTablespaceSql : 'NULL'} AS tablespace
    FROM pg_class c
    WHERE c.oid >= '${firstNormalOid}'
      AND c.relpersistence = 'p'
      AND c.relam IN ('0', '${accessMethodOids.heap}', '${accessMethodOids.btree}')
      AND (c.relkind IN ('r', 't', 'S') OR (c.relkind = 'i' AND c.relnamespace = '${schemaOids.pg_toast}'))
      AND ${superuser ? hasNoFileSql : hasLostPagesSql}
    ${version < 120_000 ? '' : checksumFailuresSql}
  `,
  decode: (rows) => {
    const failures = rows.find(({ kind }) => kind === 'checksum');
    return {
      missing: rows
        .filter(({ kind }) => kind === 'file')
        .map((row) => ({
          relation: decodeText(row, 'name'),
          path: decodeText(row, 'path'),
          tablespace: decodeOptionalText(row, 'tablespace'),
        })),
      checksumFailures: failures === undefined ? 0 : decodeNumber(failures, 'name'),
      lastFailure: failures === undefined ? '' : decodeText(failures, 'path'),
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
    WHEN c.relpages = 0 OR c.oid IN ${lockedRelationsSql} THEN false
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

export const damagedStorageCheck = declareDatabaseCheck({
  id: 'damaged-storage',
  title: 'no table has lost its file, and no page failed its checksum',
  headline: 'The storage of the database is damaged',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: { damage: storageDamageQuery },
  readsRows: true,
  evaluate({ damage }, database, { scans }) {
    if (damage.missing.length > 0) return missingFiles(damage);
    const scan = scans?.get(database);
    const damaged = scan?.unread.filter(({ reason }) => reason === 'damaged') ?? [];
    if (damaged.length > 0) return damagedRows(damaged);
    if (damage.checksumFailures === 0) return passOutcome('none');
    const isComplete = scan !== undefined && incompleteScanOutcome(scan) === undefined;
    return isComplete ? failedElsewhere(damage) : failedChecksums(damage);
  },
});

function damagedRows(damaged: readonly UnreadTable[]): CheckOutcome {
  return failOutcome(['continuous', 'dump'], `${countOf(damaged.length, 'table')} with damaged rows`, {
    headline: 'Rows of a table are damaged',
    required: 'rows that the server can read',
    detail: `Reading stopped at the first damaged row, so there may be more. The copy stops there on every attempt.${unlistedNote(damaged)}`,
    objects: limitObjects(damaged).map(({ table, message }) => `${table} (${message})`),
    fix: {
      by: 'the operator of the server',
      text: 'Restore the table from a backup or a standby. Before rows are given up (zero_damaged_pages, pg_surgery), copy the data directory.',
    },
  });
}

function failedElsewhere({ checksumFailures, lastFailure }: StorageDamage): CheckOutcome {
  return warnOutcome(
    `${countOf(checksumFailures, 'checksum failure')}, the last at ${lastFailure}; every row was read`,
    {
      headline: 'Pages failed their checksum, and the rows of all tables can be read',
      required: 'no checksum failures',
      detail: 'The damaged page is in an index, a system catalog or a large object, or it was repaired since.',
      fix: {
        by: 'the operator of the server',
        text: 'The log of the server names the relation and the block. If the relation is an index, rebuild it (REINDEX).',
      },
    },
  );
}

function missingFiles({ missing }: StorageDamage): CheckOutcome {
  const lost = [...new Set(missing.flatMap(({ tablespace }) => tablespace ?? []))];
  const where = lost.length === 0 ? '' : ` The directory of tablespace ${lost.join(', ')} does not exist.`;
  return failOutcome(['continuous', 'dump'], `${countOf(missing.length, 'relation')} without a file`, {
    headline: 'The file of a table is missing',
    required: 'a file for every table, TOAST table and sequence',
    detail: `Every read of a table without its file fails, so the rows of the table cannot be copied: "could not open file "${missing[0]!.path}": No such file or directory".${where}${unlistedNote(missing)}`,
    objects: limitObjects(missing).map(({ relation, path }) => `${relation} (${path})`),
    fix: {
      by: 'the operator of the server',
      text: 'Make the missing files available again (mount the volume, or correct the link in pg_tblspc), or restore the files from a backup. Drop tables that are not needed.',
    },
  });
}

function failedChecksums({ checksumFailures, lastFailure }: StorageDamage): CheckOutcome {
  return {
    ...unknownOutcome(`${countOf(checksumFailures, 'checksum failure')}, the last at ${lastFailure}`),
    premise: 'no damaged page in a table, or all damaged pages repaired',
    settledBy: '--deep',
    headline: 'Pages of the database failed their checksum',
    required: 'no checksum failures',
    detail:
      'A damaged page of a table ends the copy on every attempt: "invalid page in block … of relation …". The server does not record which relation had the page: it may be an index, which is not copied, and the page may have been repaired since. --deep reads every row.',
    fix: {
      by: 'the operator of the server',
      text: 'The log of the server names the relation and the block. Restore a damaged table from a backup or a standby, and rebuild a damaged index with REINDEX. pg_checksums --check finds all damaged pages of a stopped server.',
    },
  };
}
