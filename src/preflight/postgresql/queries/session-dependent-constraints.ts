import { firstNormalObjectId, nameLookupFunctions } from '../../../postgresql/catalog-oids.ts';
import type { PostgresqlQuery } from '../query.ts';
import { dependsOnSessionSql } from './catalog-predicates.ts';
import { whenPresent } from './database-overview.ts';
import { decodeBoolean, decodeText } from './decode.ts';
import { grantMonitorRole } from './grants.ts';
import { decodeRowScan, type RowScanResult, rowScanColumns, violatedColumn } from './row-scan.ts';

/** A CHECK constraint that depends on the session: on its role, its settings or its search_path. */
export interface SessionDependentConstraint {
  /** Quoted. */
  readonly name: string;
  /** The table or the domain that has the constraint. */
  readonly owner: string;
  readonly ofDomain: boolean;
  /** `CHECK ((tenant = current_setting('app.tenant'::text)))`. */
  readonly definition: string;
  /** Evaluated by our role, with an empty search_path. */
  readonly rows: RowScanResult;
}

export const sessionDependentConstraintsQuery: PostgresqlQuery<readonly SessionDependentConstraint[]> = {
  id: 'session-dependent-constraints',
  scope: 'database',
  when: whenPresent('odd-constraints'),
  sql: (version) => `
    SELECT o.*, ${violatedColumn()}
    FROM (
      SELECT
        quote_ident(k.conname) AS conname,
        CASE WHEN k.contypid <> '0' THEN k.contypid::regtype::text ELSE k.conrelid::regclass::text END AS owner,
        k.contypid <> '0' AS of_domain,
        pg_get_constraintdef(k.oid) AS definition,
        ${rowScanColumns(version, nameLookupFunctions)}
      FROM pg_constraint k
      WHERE k.oid >= '${firstNormalObjectId}'
        AND ${dependsOnSessionSql}${version < 180_000 ? '' : ' AND k.conenforced'}
      OFFSET 0
    ) o
    ORDER BY 2, 1
  `,
  decode: (rows) =>
    rows.map((row) => ({
      name: decodeText(row, 'conname'),
      owner: decodeText(row, 'owner'),
      ofDomain: decodeBoolean(row, 'of_domain'),
      definition: decodeText(row, 'definition'),
      rows: decodeRowScan(row),
    })),
  absent: [],
  grant: grantMonitorRole,
};
