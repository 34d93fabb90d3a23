import {
  catalogOids,
  firstNormalOid,
  regprocTypes,
  schemaOids,
  serverSpecificTypes,
} from '../../../../postgresql/catalog-oids.ts';
import { decodeNumber, decodeText } from '../../../../postgresql/rows.ts';
import type { PostgresqlQuery, ValueReader } from '../query.ts';
import {
  clockPattern,
  collationOrderSql,
  hasGeneratedSql,
  isChangedCastSql,
  isNamedSql,
  isOneOfSql,
  laterKeywords,
  misplacedTableSql,
  oidPattern,
  primaryKeySql,
  serverDependenceSql,
  sessionPattern,
  settingsPattern,
  takesZoneSql,
  textOrderSql,
  uncommonRelationSql,
  userDependencySql,
} from './catalog-predicates.ts';

/** The features that a database uses; queries about a feature are sent only to databases that use it. */
export interface FeatureOverview {
  /** Bytes of the whole database, with indexes and system catalogs. */
  readonly bytes: number;
  /** Number of tables and materialized views, without temporary ones. */
  readonly tables: number;
  readonly sequences: number;
  readonly present: ReadonlySet<SchemaFeature>;
}

/**
 * The facts of a database are read in one statement, because each further statement costs a third of a millisecond in a
 * new server process. Joins and sorting would cost more.
 */
export const featuresQuery: PostgresqlQuery<FeatureOverview> = {
  id: 'database-overview',
  scope: 'database',
  sql: (version) => `
    SELECT
      pg_database_size(current_database()) AS bytes,
      (
        SELECT count(*)
        FROM pg_class
        WHERE oid >= '${firstNormalOid}'
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
};

/** A condition for `when`: true if the database has one of the features, or if its features are not known. */
export function featureCondition(...wanted: readonly SchemaFeature[]): (known: ValueReader) => boolean {
  return (known) => {
    const seen = known(featuresQuery);
    return seen === undefined || wanted.some((thing) => seen.present.has(thing));
  };
}

const databaseFeatures = [
  /**
   * Whether the database has a relation other than an ordinary table with a primary key: of another kind or
   * persistence, in another tablespace, with row-level security, with another replica identity, or without a usable
   * primary key.
   */
  'relations',
  /** Whether the database has a generated column or an identity column. */
  'columns',
  /**
   * Functions of users. If a database has none, it has no event trigger, no trigger that calls a function of a user,
   * and no procedural language in use.
   */
  'functions',
  /** Whether a constraint, an index, a generated column or an operator calls a function of a user. */
  'called-functions',
  /** Whether the database has extensions other than plpgsql, which every new database has. */
  'extensions',
  'publications',
  'collations',
  'large-objects',
  'invalid-indexes',
  /** Whether a system schema contains tables of users. */
  'system-tables',
  /**
   * Whether pg_catalog or information_schema contains objects of users, except tables. The schemas pg_catalog,
   * information_schema, public and pg_toast exist on every server from the start.
   */
  'system-objects',
  /** Whether the database has expression indexes or partial indexes. */
  'expressions',
  /**
   * Whether the database has constraints that are NOT VALID, read the clock, or depend on settings, on the session or
   * on tableoid.
   */
  'odd-constraints',
  /** Whether the database has constraints with a name that a later release gives to NOT NULL constraints. */
  'not-null-names',
  /**
   * Whether tables inherit from another table, including partitions. Before PostgreSQL 18 inheriting tables may accept
   * NULL where the parent table does not.
   */
  'heirs',
  /** Whether users created views or rules. */
  'views',
  /**
   * Whether columns have types that are written as bare names of functions or operators, or that only this server can
   * read.
   */
  'callables',
  'labels',
  /** Whether the encoding is SQL_ASCII, in which a text may contain any bytes. */
  'any-bytes',
  /** Whether track_commit_timestamp is on. */
  'commit-times',
  /** Whether users or extensions created text search dictionaries. */
  'dictionaries',
  /**
   * Whether users or extensions created objects that only a superuser can create, and that need no function of a user. Text
   * search parsers and templates are found in pg_depend, because each further catalog costs a tenth of a millisecond.
   */
  'superuser-objects',
  /**
   * Whether a constraint, an index, a partition key or a generated column calls something that users or extensions
   * created, or something whose results differ between releases.
   */
  'stored-expressions',
  /** Whether a default, a CHECK constraint, an index or a domain calls a function with a time zone. */
  'zone-names',
  /** Whether a stored expression or a view uses an operator of a user or an extension. */
  'used-operators',
  /** Whether the row of a cast of PostgreSQL itself was changed. */
  'changed-casts',
  /** Columns, tables, arguments or schemas with the name of a keyword of a later release. */
  'keyword-names',
] as const;

type SchemaFeature = (typeof databaseFeatures)[number];

const featureTypes = [...regprocTypes, ...serverSpecificTypes];

const featureTests: Readonly<Record<SchemaFeature, (version: number) => string>> = {
  relations: () => `
    EXISTS (
      SELECT FROM pg_class c
      WHERE c.oid >= '${firstNormalOid}'
        AND c.relnamespace <> '${schemaOids.pg_toast}'
        AND (${uncommonRelationSql} OR (c.relkind = 'r' AND (c.relreplident <> 'd' OR NOT ${primaryKeySql})))
    )
  `,
  columns: hasGeneratedSql,
  functions: () => `EXISTS (SELECT FROM pg_proc WHERE oid >= '${firstNormalOid}')`,
  'called-functions': () => `EXISTS (SELECT FROM pg_depend d WHERE ${userDependencySql})`,
  extensions: () => `EXISTS (SELECT FROM pg_extension WHERE oid >= '${firstNormalOid}')`,
  publications: (version) => (version < 100_000 ? 'false' : 'EXISTS (SELECT FROM pg_publication)'),
  collations: () => `EXISTS (SELECT FROM pg_collation WHERE oid >= '${firstNormalOid}')`,
  'large-objects': () => 'EXISTS (SELECT FROM pg_largeobject_metadata)',
  'invalid-indexes': () => 'EXISTS (SELECT FROM pg_index WHERE NOT indisvalid)',
  'system-tables': () => `EXISTS (SELECT FROM pg_class c WHERE ${misplacedTableSql})`,
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
            WHERE oid >= '${firstNormalOid}'
              AND ${home} < '${firstNormalOid}'
              AND ${home} <> '${schemaOids.public}'
              AND ${home} <> '${schemaOids.pg_toast}'
          )
        `,
      )
      .join(' OR '),
  expressions: () => `
    EXISTS (
      SELECT FROM pg_index
      WHERE indexrelid >= '${firstNormalOid}'
        AND (indexprs IS NOT NULL OR indpred IS NOT NULL)
    )
  `,
  'odd-constraints': (version) => `
    EXISTS (
      SELECT FROM pg_constraint
      WHERE oid >= '${firstNormalOid}'
        AND (
          NOT convalidated
            OR (contype = 'c' AND conbin::text ~ '${clockPattern}|${settingsPattern}|${sessionPattern}|${oidPattern(version)}')
        )
    )
  `,
  'not-null-names': (version) =>
    version >= 180_000
      ? 'false'
      : `
        EXISTS (
          SELECT FROM pg_constraint
          WHERE oid >= '${firstNormalOid}'
            AND right(conname::text, 9) = '_not_null'
        )
      `,
  heirs: () => 'EXISTS (SELECT FROM pg_inherits)',
  views: () => `EXISTS (SELECT FROM pg_rewrite WHERE oid >= '${firstNormalOid}')`,
  callables: () => `
    EXISTS (
      SELECT FROM pg_attribute
      WHERE attrelid >= '${firstNormalOid}'
        AND attnum > '0'
        AND ${isOneOfSql(featureTypes, 'atttypid')}
    )
      OR EXISTS (
        SELECT FROM pg_type
        WHERE oid >= '${firstNormalOid}'
          AND ${isOneOfSql(featureTypes, 'typbasetype')}
      )
  `,
  labels: () => 'EXISTS (SELECT FROM pg_seclabel)',
  'any-bytes': () => "getdatabaseencoding() = 'SQL_ASCII'",
  'commit-times': () => "current_setting('track_commit_timestamp') = 'on'",
  dictionaries: () => `
    EXISTS (
      SELECT FROM pg_depend
      WHERE classid = '${catalogOids.pg_ts_dict}'
        AND objid >= '${firstNormalOid}'
    )
  `,
  'superuser-objects': () =>
    ['am', 'cast', 'foreign_data_wrapper', 'opclass']
      .map((catalog) => `EXISTS (SELECT FROM pg_${catalog} WHERE oid >= '${firstNormalOid}')`)
      .concat(
        `EXISTS (SELECT FROM pg_depend WHERE classid IN ('${catalogOids.pg_ts_parser}', '${catalogOids.pg_ts_template}') AND objid >= '${firstNormalOid}')`,
      )
      .join(' OR '),
  'stored-expressions': (version) => {
    const { pg_attrdef, pg_class, pg_constraint, pg_opclass, pg_operator, pg_proc, pg_ts_config, pg_ts_dict } =
      catalogOids;
    const called = `
      EXISTS (
        SELECT FROM pg_depend
        WHERE refclassid = ANY ('{${[pg_proc, pg_operator, pg_opclass, pg_ts_config, pg_ts_dict].join(',')}}')
          AND refobjid >= '${firstNormalOid}'
          AND classid = ANY ('{${[pg_constraint, pg_class, pg_attrdef].join(',')}}')
      )
    `;
    const differs = (tree: string) => `${serverDependenceSql(tree)} OR ${textOrderSql(tree, version)}`;
    const indexTrees = "concat(indexprs::text, ' ', indpred::text)";
    const found = [
      called,
      `EXISTS (SELECT FROM pg_constraint WHERE contype = 'c' AND oid >= '${firstNormalOid}' AND (${differs('conbin')}))`,
      `EXISTS (SELECT FROM pg_index WHERE (indexprs IS NOT NULL OR indpred IS NOT NULL) AND (indisunique OR indisexclusion) AND (${differs(indexTrees)}))`,
    ];
    if (version >= 100_000) {
      found.push(
        `EXISTS (SELECT FROM pg_partitioned_table WHERE ${serverDependenceSql('partexprs')} OR (partstrat = 'r' AND ${collationOrderSql('partcollation', version)}))`,
      );
    }
    if (version >= 120_000) {
      found.push(`
        EXISTS (
          SELECT FROM pg_attrdef f
          JOIN pg_attribute a ON a.attrelid = f.adrelid AND a.attnum = f.adnum
          WHERE a.attgenerated = 's'
            AND a.attrelid >= '${firstNormalOid}'
            AND (${differs('f.adbin')})
        )
      `);
    }
    return found.join(' OR ');
  },
  'zone-names': () => `
    EXISTS (SELECT FROM pg_attrdef WHERE ${takesZoneSql('adbin')})
      OR EXISTS (
        SELECT FROM pg_constraint
        WHERE oid >= '${firstNormalOid}'
          AND contype = 'c'
          AND ${takesZoneSql('conbin')}
      )
      OR EXISTS (
        SELECT FROM pg_index
        WHERE indexrelid >= '${firstNormalOid}'
          AND (${takesZoneSql('indexprs')} OR ${takesZoneSql('indpred')})
      )
      OR EXISTS (
        SELECT FROM pg_type
        WHERE oid >= '${firstNormalOid}'
          AND ${takesZoneSql('typdefaultbin')}
      )
  `,
  'used-operators': () => `
    EXISTS (
      SELECT FROM pg_depend
      WHERE refclassid = '${catalogOids.pg_operator}'
        AND refobjid >= '${firstNormalOid}'
        AND deptype = 'n'
        AND classid NOT IN ('${catalogOids.pg_amop}', '${catalogOids.pg_operator}')
    )
  `,
  'changed-casts': () => `EXISTS (SELECT FROM pg_cast c WHERE ${isChangedCastSql})`,
  'keyword-names': (version) => {
    const later = laterKeywords.filter(({ since }) => since > version / 10_000);
    const words = later.flatMap((one) => one.words).join(',');
    const reserved = later.filter(({ isReserved }) => isReserved).flatMap((one) => one.words);
    const found = [
      `EXISTS (SELECT FROM pg_namespace WHERE nspname = ANY ('{${words}}'))`,
      reserved.length > 0 ? isNamedSql(reserved) : 'false',
      `EXISTS (SELECT FROM pg_proc WHERE oid >= '${firstNormalOid}' AND proargnames && '{${words}}')`,
    ];
    return later.length === 0 ? 'false' : found.join(' OR ');
  },
};
