import { dateTimeTypeOidPattern } from '../../../postgresql/catalog-oids.ts';
import { decodeBooleanColumn } from '../../../postgresql/decode-row.ts';
import type { PostgresqlPreflightQuery } from '../query.ts';
import { checkConstraintDependsOnSettingsSql } from './catalog-predicates.ts';
import { createDatabaseFeatureCondition } from './database-overview.ts';
import { decodeNamedConstraint, type NamedConstraint, namedConstraintSelectListSql } from './named-constraint.ts';
import { constraintHasStoredRowsSql } from './row-scan.ts';

/** A CHECK constraint that depends on the time zone or the date style of the session. */
export interface SettingsDependentConstraint extends NamedConstraint {
  /** Whether the constraint converts a text to a date, which fails under another DateStyle. */
  readonly readsDates: boolean;
  /**
   * Whether the constraint applies to existing rows. The rows are not checked, because preflight evaluates no
   * expression of a user.
   */
  readonly filled: boolean;
}

/** The default values of TimeZone, DateStyle and IntervalStyle, which a target has. */
export const defaultTargetFormatSettings = {
  TimeZone: 'UTC',
  DateStyle: 'ISO, MDY',
  IntervalStyle: 'postgres',
} as const;

/**
 * SQL condition: the expression has a type whose text form depends on TimeZone, DateStyle or IntervalStyle (dates,
 * times, intervals), or that can contain such a type. The text form of an enum or a number does not depend on them.
 * Conversions from text and to text are node trees of the same type.
 */
const mentionsDatesSql = `
  EXISTS (
    SELECT FROM regexp_matches(k.conbin::text, ':[a-z]*type(?:id|Id)? ([0-9]+) ', 'g') m(found)
    JOIN pg_type y ON y.oid = m.found[1]::oid
    WHERE y.typcategory IN ('A', 'C', 'D', 'P', 'R', 'T')
  )
`;

export const settingsDependentConstraintsQuery: PostgresqlPreflightQuery<readonly SettingsDependentConstraint[]> = {
  id: 'settings-dependent-constraints',
  scope: 'database',
  when: createDatabaseFeatureCondition('odd-constraints'),
  sql: (version) => `
    SELECT
      ${namedConstraintSelectListSql},
      k.conbin::text ~ 'COERCEVIAIO.* :resulttype (${dateTimeTypeOidPattern}) ' AS reads_dates,
      ${constraintHasStoredRowsSql(version)} AS filled
    FROM pg_constraint k
    WHERE ${checkConstraintDependsOnSettingsSql}
      AND ${mentionsDatesSql}${version < 180_000 ? '' : ' AND k.conenforced'}
    ORDER BY 2, 1
  `,
  decode: (rows) =>
    rows.map((row) => ({
      ...decodeNamedConstraint(row),
      readsDates: decodeBooleanColumn(row, 'reads_dates'),
      filled: decodeBooleanColumn(row, 'filled'),
    })),
  absent: [],
};
