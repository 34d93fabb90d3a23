import { dateTimeTypes } from '../../../postgresql/catalog-oids.ts';
import type { PostgresqlQuery } from '../query.ts';
import { dependsOnSettingsSql } from './catalog-predicates.ts';
import { whenFeaturePresent } from './database-overview.ts';
import { decodeBoolean, decodeText } from './decode.ts';
import { grantMonitorRole } from './grants.ts';
import { constraintHasRowsSql } from './row-scan.ts';

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
  /** It applies to existing rows. They are not checked, because an expression of a user is not evaluated. */
  readonly filled: boolean;
}

/** Defaults of a server, which a target has. */
export const defaultSessionSettings = { TimeZone: 'UTC', DateStyle: 'ISO, MDY', IntervalStyle: 'postgres' } as const;

/**
 * The expression has a type whose text form depends on these settings (dates, times, intervals) or that can contain such a
 * type; an enum or a number, converted to text, does not depend on them. Conversions of both kinds are nodes of one type.
 */
const mentionsDatesSql = `
  EXISTS (
    SELECT FROM regexp_matches(k.conbin::text, ':[a-z]*type(?:id|Id)? ([0-9]+) ', 'g') m(found)
    JOIN pg_type y ON y.oid = m.found[1]::oid
    WHERE y.typcategory IN ('A', 'C', 'D', 'P', 'R', 'T')
  )
`;

export const settingsDependentConstraintsQuery: PostgresqlQuery<readonly SettingsDependentConstraint[]> = {
  id: 'settings-dependent-constraints',
  scope: 'database',
  when: whenFeaturePresent('odd-constraints'),
  sql: (version) => `
    SELECT
      quote_ident(k.conname) AS conname,
      CASE WHEN k.contypid <> '0' THEN k.contypid::regtype::text ELSE k.conrelid::regclass::text END AS owner,
      k.contypid <> '0' AS of_domain,
      pg_get_constraintdef(k.oid) AS definition,
      k.conbin::text ~ 'COERCEVIAIO.* :resulttype (${dateTimeTypes}) ' AS reads_dates,
      ${constraintHasRowsSql(version)} AS filled
    FROM pg_constraint k
    WHERE ${dependsOnSettingsSql}
      AND ${mentionsDatesSql}${version < 180_000 ? '' : ' AND k.conenforced'}
    ORDER BY 2, 1
  `,
  decode: (rows) =>
    rows.map((row) => ({
      name: decodeText(row, 'conname'),
      owner: decodeText(row, 'owner'),
      ofDomain: decodeBoolean(row, 'of_domain'),
      definition: decodeText(row, 'definition'),
      readsDates: decodeBoolean(row, 'reads_dates'),
      filled: decodeBoolean(row, 'filled'),
    })),
  absent: [],
  grant: grantMonitorRole,
};
