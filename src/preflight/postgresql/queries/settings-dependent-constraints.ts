import { dateTimeTypes, settingsDependentFunctions } from '../../../postgresql/catalog-oids.ts';
import type { PostgresqlQuery } from '../query.ts';
import { dependsOnSettingsSql } from './catalog-predicates.ts';
import { whenPresent } from './database-overview.ts';
import { decodeBoolean, decodeText } from './decode.ts';
import { grantMonitorRole } from './grants.ts';
import { decodeRowScan, type RowScanResult, rowScanColumns, violatedColumn } from './row-scan.ts';

/** A CHECK constraint that depends on the time zone or the date style of the session. */
export interface SettingsDependentConstraint {
  /** Quoted. */
  readonly name: string;
  /** The table or the domain that has the constraint. */
  readonly owner: string;
  readonly ofDomain: boolean;
  /** `CHECK (((at)::date = day))`. */
  readonly definition: string;
  /** It converts a text to a date, which fails under another DateStyle. */
  readonly readsDates: boolean;
  /** Evaluated with the default settings of a server. */
  readonly rows: RowScanResult;
}

/** Defaults of a server, which a target has. */
export const defaultSessionSettings = { TimeZone: 'UTC', DateStyle: 'ISO, MDY', IntervalStyle: 'postgres' } as const;

/** Applies until the end of the transaction, and before any row is read, so that constants are parsed with it. */
const settled = Object.entries(defaultSessionSettings)
  .map(([name, value]) => `set_config('${name}', '${value}', true) IS NOT NULL`)
  .join(' AND ');

export const settingsDependentConstraintsQuery: PostgresqlQuery<readonly SettingsDependentConstraint[]> = {
  id: 'settings-dependent-constraints',
  scope: 'database',
  when: whenPresent('odd-constraints'),
  sql: (version) => `
    SELECT o.*, ${violatedColumn('NOT o.reads_dates')}
    FROM (SELECT ${settled} AS done OFFSET 0) s
    CROSS JOIN LATERAL (
      SELECT
        quote_ident(k.conname) AS conname,
        CASE WHEN k.contypid <> '0' THEN k.contypid::regtype::text ELSE k.conrelid::regclass::text END AS owner,
        k.contypid <> '0' AS of_domain,
        pg_get_constraintdef(k.oid) AS definition,
        k.conbin::text ~ 'COERCEVIAIO.* :resulttype (${dateTimeTypes}) ' AS reads_dates,
        ${rowScanColumns(version, settingsDependentFunctions)}
      FROM pg_constraint k
      WHERE s.done
        AND ${dependsOnSettingsSql}${version < 180_000 ? '' : ' AND k.conenforced'}
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
      readsDates: decodeBoolean(row, 'reads_dates'),
      rows: decodeRowScan(row),
    })),
  absent: [],
  grant: grantMonitorRole,
};
