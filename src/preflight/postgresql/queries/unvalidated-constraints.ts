import type { PostgresqlQuery } from '../query.ts';
import { whenPresent } from './database-overview.ts';
import { decodeBoolean, decodeText } from './decode.ts';
import { grantMonitorRole } from './grants.ts';
import { decodeRowScan, domainHasRowsSql, type RowScanResult, rowScanColumns, violatedColumn } from './row-scan.ts';

/** A constraint that is NOT VALID: existing rows were never checked. */
export interface UnvalidatedConstraint {
  /** Quoted. */
  readonly name: string;
  /** The table or the domain that has the constraint. */
  readonly owner: string;
  /** `CHECK ((b < 10)) NOT VALID` */
  readonly definition: string;
  readonly ofDomain: boolean;
  /** A domain that is used in arrays, which VALIDATE CONSTRAINT rejects. */
  readonly inArrays: boolean;
  /** The initial copy does not check foreign keys, but all other constraints. */
  readonly foreignKey: boolean;
  readonly rows: RowScanResult;
}

/**
 * Without NOT ENFORCED constraints of PostgreSQL 18, which are never checked. A constraint of a partitioned table is found
 * in its partitions.
 */
export const unvalidatedConstraintsQuery: PostgresqlQuery<readonly UnvalidatedConstraint[]> = {
  id: 'unvalidated-constraints',
  scope: 'database',
  when: whenPresent('odd-constraints'),
  sql: (version) => {
    const arrays = domainHasRowsSql("t.typarray <> '0' AND a.atttypid = t.typarray");
    return `
      SELECT o.*, ${violatedColumn()}
      FROM (
        SELECT
          quote_ident(k.conname) AS conname,
          CASE WHEN k.contypid <> '0' THEN k.contypid::regtype::text ELSE k.conrelid::regclass::text END AS owner,
          pg_get_constraintdef(k.oid) AS definition,
          k.contypid <> '0' AS of_domain,
          k.contype = 'f' AS foreign_key,
          ${arrays} AS in_arrays,
          ${rowScanColumns(version, '')}
        FROM pg_constraint k
        WHERE NOT k.convalidated${version < 180_000 ? '' : ' AND k.conenforced'}
      ) o
      ORDER BY 2, 1
    `;
  },
  decode: (rows) =>
    rows.map((row) => {
      const inArrays = decodeBoolean(row, 'in_arrays');
      return {
        name: decodeText(row, 'conname'),
        owner: decodeText(row, 'owner'),
        definition: decodeText(row, 'definition'),
        ofDomain: decodeBoolean(row, 'of_domain'),
        inArrays,
        foreignKey: decodeBoolean(row, 'foreign_key'),
        rows: inArrays && row.violated !== 't' ? 'unseen' : decodeRowScan(row),
      };
    }),
  absent: [],
  grant: grantMonitorRole,
};
