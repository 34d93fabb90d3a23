import { countOf } from '../../../../base/text.ts';
import { quoteIdentifier } from '../../../../postgresql/quote.ts';
import { decodeBoolean } from '../../../../postgresql/rows.ts';
import { type CheckOutcome, failOutcome, passOutcome, unknownOutcome } from '../../finding.ts';
import { declareDatabaseCheck, limitObjects, unlistedNote } from '../check.ts';
import { usesZone } from '../function-body/time-zone.ts';
import { dropConstraintsFix, suggestConstraintQueries } from '../owner-queries.ts';
import { settingsCheckSql, settingsPattern } from '../queries/catalog-predicates.ts';
import { constraintColumnsSql, decodeConstraint, type NamedConstraint } from '../queries/constraints.ts';
import { featureCondition } from '../queries/database-overview.ts';
import { bodiesQuery, type ObjectBody } from '../queries/function-bodies.ts';
import { type FunctionUse, functionUsesQuery } from '../queries/function-uses.ts';
import { roleSettingsQuery } from '../queries/roles.ts';
import { constraintRowsSql } from '../queries/row-scan.ts';
import { settingsQuery } from '../queries/settings.ts';
import { rowsQuery } from '../query.ts';
import { listSettingsOfSource } from '../settings.ts';

/** A CHECK constraint that depends on the time zone or the date style of the session. */
export interface SettingsConstraint extends NamedConstraint {
  /**
   * Whether the constraint applies to existing rows. The rows are not checked, because preflight evaluates no
   * expression of a user.
   */
  readonly filled: boolean;
}

/** The default values of TimeZone, DateStyle and IntervalStyle, which a target has. */
const targetFormats = {
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

/**
 * The expression without the intervals that are added to a column or to a function without arguments, such as now(), if
 * they have neither months nor days: seconds are the same in every time zone.
 */
const withoutSecondsSql = `
  regexp_replace(
    k.conbin::text,
    ':opfuncid 11(?:89|90) [^{}]*:args \\((\\{[^{}]*\\}) \\{CONST :consttype 1186 [^{}]*:constvalue 16 \\[(?: -?\\d+){8}(?: 0){8} \\]\\}\\)',
    '\\1',
    'g'
  )
`;

export const settingsConstraintsQuery = rowsQuery<SettingsConstraint>({
  id: 'settings-dependent-constraints',
  scope: 'database',
  when: featureCondition('checks'),
  sql: (version) => `
    SELECT
      ${constraintColumnsSql},
      ${constraintRowsSql(version)} AS filled
    FROM pg_constraint k
    WHERE ${settingsCheckSql}
      AND ${withoutSecondsSql} ~ '${settingsPattern}'
      AND ${mentionsDatesSql}${version < 180_000 ? '' : ' AND k.conenforced'}
    ORDER BY 2, 1
  `,
  row: (row) => ({
    ...decodeConstraint(row),
    filled: decodeBoolean(row, 'filled'),
  }),
});

export const settingDependentChecksCheck = declareDatabaseCheck({
  id: 'setting-checks',
  title: 'no CHECK constraint or stored value depends on session settings',
  headline: 'A CHECK constraint or a stored value depends on session settings',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: {
    swayedChecks: settingsConstraintsQuery,
    functionUses: functionUsesQuery,
    functionBodies: bodiesQuery,
    settings: settingsQuery,
    roleSettings: roleSettingsQuery,
  },
  evaluate({ swayedChecks, functionUses, functionBodies, settings, roleSettings }, database, facts) {
    const found = swayedChecks.filter(({ filled }) => filled);
    const own = listSettingsOfSource(database, settings, roleSettings, facts).filter(({ name }) =>
      Object.hasOwn(targetFormats, name),
    );
    const zone = own.find(({ name }) => name === 'TimeZone');
    const uses = zone === undefined ? [] : zoneUses(functionUses, functionBodies);
    if (zone !== undefined && uses.length > 0) return zoneOutcome(uses, zone.value);
    if (found.length === 0) return passOutcome(swayedChecks.length === 0 ? 'none' : 'none with rows');
    const settingTexts = own.map(({ name, value }) => `${name} ${value}`).join(', ');
    const observed = `${countOf(found.length, 'constraint')}${settingTexts === '' ? '' : `; ${settingTexts}`}`;
    const harm = `Settings of the server, a database or a role are not migrated: the target evaluates a CHECK constraint with ${Object.entries(
      targetFormats,
    )
      .map(([name, value]) => `${name} ${value}`)
      .join(', ')}`;
    const defaults = Object.entries(targetFormats).map(([name, value]) => `SET ${name} = '${value}'`);
    return {
      ...unknownOutcome(`${observed}; it is not known whether every row satisfies the constraints`),
      premise: 'every row satisfies the CHECK constraints with the settings of the target',
      required: 'no dependence on session settings, or default settings',
      objects: limitObjects(found).map(({ name, owner, definition }) => `${name} on ${owner} ${definition}`),
      fix: dropConstraintsFix(
        settingsConstraintsQuery,
        found,
        database,
        `Drop the constraints until the cut-over, or rewrite them with an explicit time zone (AT TIME ZONE 'UTC'). A target with the same settings accepts the rows: run ALTER DATABASE ${quoteIdentifier(database)} SET … on the target, or change the settings of the role that applies changes, then use --accept setting-checks.`,
      ),
      detail: `${harm}, and rows that are valid on the source may not be copied: "new row for relation … violates check constraint".${unlistedNote(found)}${suggestConstraintQueries(found, defaults.join('; '))}`,
    };
  },
});

interface ZoneUse extends FunctionUse {
  readonly signature: string;
}

/** Functions that the target calls again for copied rows, to compute a value, a key or a partition. */
function zoneUses(uses: readonly FunctionUse[], bodies: readonly ObjectBody[]): readonly ZoneUse[] {
  const byOid = new Map(bodies.map((body) => [body.oid, body]));
  const zoneDependent = (calls: string): ObjectBody | undefined => {
    // Each function is visited once; the loop also visits elements that are added to the set during the iteration.
    const reached = new Set([calls]);
    for (const oid of reached) {
      const body = byOid.get(oid);
      // A function with SET timezone passes its time zone on to the functions that it calls.
      if (body === undefined || body.hasZone) continue;
      if (usesZone(`${body.text} ${body.bound}`, body.types)) return body;
      for (const one of body.calls) reached.add(one);
    }
    return undefined;
  };
  return uses.flatMap((use) => {
    const body = zoneDependent(use.calls);
    return body !== undefined && use.filled && !rowNeutralUses.has(use.kind)
      ? [{ ...use, signature: body.signature }]
      : [];
  });
}

/** Uses of a function (such as in an index) in which its result changes no stored row. */
const rowNeutralUses: ReadonlySet<FunctionUse['kind']> = new Set(['index', 'support', 'trigger', 'event']);

function zoneOutcome(uses: readonly ZoneUse[], zone: string): CheckOutcome {
  const isCheckOnly = uses.every(({ kind }) => kind === 'check' || kind === 'domain');
  const observed = `${countOf(uses.length, 'use')} of functions that depend on TimeZone ${zone}`;
  const more = {
    required: 'functions with an explicit time zone',
    detail: `These functions are declared IMMUTABLE but depend on the time zone. The time zone of the source is not migrated, so the target computes other values, keys or partitions for the same rows: the values differ without an error, or the copy fails with "duplicate key value violates unique constraint", "new row for relation … violates partition constraint".${unlistedNote(uses)}`,
    objects: limitObjects(uses).map(({ signature, name }) => `${signature} (${name})`),
    fix: {
      by: 'the owner of the functions',
      text: `Write the time zone into the functions: … AT TIME ZONE '${zone}'. Stored values stay unchanged. SET timezone for the function has the same effect.`,
    },
  };
  return isCheckOnly ? { ...unknownOutcome(observed), ...more } : failOutcome(['continuous', 'dump'], observed, more);
}
