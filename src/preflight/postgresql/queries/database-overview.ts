import {
  catalogOid,
  firstNormalObjectId,
  regprocTypes,
  schemaOid,
  serverSpecificTypes,
} from '../../../postgresql/catalog-oids.ts';
import type { PostgresqlQuery, ReadQueryResult } from '../query.ts';
import {
  clockPattern,
  dependsOnUserFunctionSql,
  hasGeneratedColumnsSql,
  hasPrimaryKeySql,
  isNotPlainTableSql,
  isOneOfSql,
  isSystemSchemaTableSql,
  sessionPattern,
  settingsPattern,
} from './catalog-predicates.ts';
import { decodeNumber, decodeText } from './decode.ts';
import { grantMonitorRole } from './grants.ts';

/** What there is in a database at all: the questions of the second message are asked only where it says yes. */
export interface DatabaseOverview {
  /** Of the whole database, indexes and catalogue included. */
  readonly bytes: number;
  /** Tables and materialized views, those of sessions left out. */
  readonly tables: number;
  readonly sequences: number;
  readonly present: ReadonlySet<DatabaseFeature>;
}

/**
 * One statement, because each costs a fresh server process a third of a millisecond, and joins and sorting more than that.
 * Objects of a person begin at 16384. Literals are quoted since a number would be an int4, and the search for a matching
 * operator costs more than the query.
 */
export const databaseOverviewQuery: PostgresqlQuery<DatabaseOverview> = {
  id: 'overview',
  scope: 'database',
  sql: (version) => `
    SELECT
      pg_database_size(current_database()) AS bytes,
      (
        SELECT count(*)
        FROM pg_class
        WHERE oid >= '${firstNormalObjectId}'
          AND (relkind = 'r' OR relkind = 'm')
          AND relpersistence <> 't'
      ) AS tables,
      ${version < 100_000 ? "(SELECT count(*) FROM pg_class WHERE relkind = 'S')" : '(SELECT count(*) FROM pg_sequence)'} AS sequences,
      concat_ws(
        ' ',
        ${databaseFeatures.map((thing) => `CASE WHEN ${featureTests[thing](version)} THEN '${thing}' END`).join(', ')}
      ) AS present
  `,
  decode: ([row = {}]) => {
    const present = new Set(decodeText(row, 'present').split(' '));
    return {
      bytes: decodeNumber(row, 'bytes'),
      tables: decodeNumber(row, 'tables'),
      sequences: decodeNumber(row, 'sequences'),
      present: new Set(databaseFeatures.filter((thing) => present.has(thing))),
    };
  },
  absent: { bytes: 0, tables: 0, sequences: 0, present: new Set() },
  grant: grantMonitorRole,
};

/** For `when`: one of them is there, or nobody knows. */
export function whenPresent(...wanted: readonly DatabaseFeature[]): (known: ReadQueryResult) => boolean {
  return (known) => {
    const seen = known(databaseOverviewQuery);
    return seen === undefined || wanted.some((thing) => seen.present.has(thing));
  };
}

const databaseFeatures = [
  /**
   * A relation that is no plain table with a key: of another kind or persistence, in another tablespace, with row security,
   * with another replica identity than the default or no primary key that serves.
   */
  'relations',
  /** A generated or an identity column. */
  'columns',
  /** Without one there is no event trigger, no trigger of theirs, and no language that anybody uses. */
  'functions',
  /** A constraint, an index, a generated column or an operator calls one. */
  'called-functions',
  /** Any but those that every new database has. */
  'extensions',
  'publications',
  'collations',
  'large-objects',
  'invalid-indexes',
  /** Tables of a person in a schema of the system. */
  'system-tables',
  /** Of people in pg_catalog or information_schema: every server has these schemas from its first day, and public (2200) and pg_toast (99). */
  'system-objects',
  /** Indexes over expressions, or of some rows. */
  'expressions',
  /** Constraints that are NOT VALID, ask what time it is, or mean something else with other settings. */
  'odd-constraints',
  /** Constraints named as a later release names NOT NULL. */
  'not-null-names',
  /** Tables that inherit, partitions included: before 18 they may take what the parent refuses. */
  'heirs',
  /** Views and rules of people. */
  'views',
  /** Columns of a type that writes functions or operators without their arguments, or what only this server can read. */
  'callables',
  /** Security labels. */
  'labels',
  /** Any bytes are a text here. */
  'any-bytes',
  /** Commits carry their time. */
  'commit-times',
  /** Text search dictionaries of people or extensions. */
  'dictionaries',
] as const;

export type DatabaseFeature = (typeof databaseFeatures)[number];

const featureTypes = [...regprocTypes, ...serverSpecificTypes];

const featureTests: Readonly<Record<DatabaseFeature, (version: number) => string>> = {
  relations: () => `
    EXISTS (
      SELECT FROM pg_class c
      WHERE c.oid >= '${firstNormalObjectId}'
        AND c.relnamespace <> '${schemaOid.pg_toast}'
        AND (${isNotPlainTableSql} OR (c.relkind = 'r' AND (c.relreplident <> 'd' OR NOT ${hasPrimaryKeySql})))
    )
  `,
  columns: hasGeneratedColumnsSql,
  functions: () => `EXISTS (SELECT FROM pg_proc WHERE oid >= '${firstNormalObjectId}')`,
  'called-functions': () => `EXISTS (SELECT FROM pg_depend d WHERE ${dependsOnUserFunctionSql})`,
  extensions: () => `EXISTS (SELECT FROM pg_extension WHERE oid >= '${firstNormalObjectId}')`,
  publications: (version) => (version < 100_000 ? 'false' : 'EXISTS (SELECT FROM pg_publication)'),
  collations: () => `EXISTS (SELECT FROM pg_collation WHERE oid >= '${firstNormalObjectId}')`,
  'large-objects': () => 'EXISTS (SELECT FROM pg_largeobject_metadata)',
  'invalid-indexes': () => 'EXISTS (SELECT FROM pg_index WHERE NOT indisvalid)',
  'system-tables': () => `EXISTS (SELECT FROM pg_class c WHERE ${isSystemSchemaTableSql})`,
  'system-objects': () =>
    [
      ['pg_proc', 'pronamespace'],
      ['pg_operator', 'oprnamespace'],
      ['pg_type', 'typnamespace'],
    ]
      .map(
        ([table, home]) => `
          EXISTS (
            SELECT FROM ${table}
            WHERE oid >= '${firstNormalObjectId}'
              AND ${home} < '${firstNormalObjectId}'
              AND ${home} <> '${schemaOid.public}'
              AND ${home} <> '${schemaOid.pg_toast}'
          )
        `,
      )
      .join(' OR '),
  expressions: () => `
    EXISTS (
      SELECT FROM pg_index
      WHERE indexrelid >= '${firstNormalObjectId}'
        AND (indexprs IS NOT NULL OR indpred IS NOT NULL)
    )
  `,
  'odd-constraints': () => `
    EXISTS (
      SELECT FROM pg_constraint
      WHERE oid >= '${firstNormalObjectId}'
        AND (
          NOT convalidated
            OR (contype = 'c' AND conbin::text ~ '${clockPattern}|${settingsPattern}|${sessionPattern}')
        )
    )
  `,
  'not-null-names': (version) =>
    version >= 180_000
      ? 'false'
      : `
        EXISTS (
          SELECT FROM pg_constraint
          WHERE oid >= '${firstNormalObjectId}'
            AND right(conname::text, 9) = '_not_null'
        )
      `,
  heirs: () => 'EXISTS (SELECT FROM pg_inherits)',
  views: () => `EXISTS (SELECT FROM pg_rewrite WHERE oid >= '${firstNormalObjectId}')`,
  callables: () => `
    EXISTS (
      SELECT FROM pg_attribute
      WHERE attrelid >= '${firstNormalObjectId}'
        AND attnum > '0'
        AND ${isOneOfSql(featureTypes, 'atttypid')}
    )
      OR EXISTS (
        SELECT FROM pg_type
        WHERE oid >= '${firstNormalObjectId}'
          AND ${isOneOfSql(featureTypes, 'typbasetype')}
      )
  `,
  labels: () => 'EXISTS (SELECT FROM pg_seclabel)',
  'any-bytes': () => "getdatabaseencoding() = 'SQL_ASCII'",
  'commit-times': () => "current_setting('track_commit_timestamp') = 'on'",
  dictionaries: () => `
    EXISTS (
      SELECT FROM pg_depend
      WHERE classid = '${catalogOid.pg_ts_dict}'
        AND objid >= '${firstNormalObjectId}'
    )
  `,
};
