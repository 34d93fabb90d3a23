import {
  catalogOids,
  catalogRowTypes,
  firstGenbkiOid,
  firstNormalOid,
  malformedTypes,
  regprocTypes,
  schemaOids,
  serverSpecificTypes,
  transactionIdTypes,
} from '../../../../postgresql/catalog-oids.ts';
import { decodeNumber, decodeText } from '../../../../postgresql/rows.ts';
import type { PostgresqlQuery, ValueReader } from '../query.ts';
import {
  isChangedCastSql,
  isOneOfSql,
  laterKeywords,
  misplacedTableSql,
  primaryKeySql,
  uncommonRelationSql,
} from './catalog-predicates.ts';

/** The features that a database uses; queries about a feature are sent only to databases that use it. */
export interface FeatureOverview {
  /** Bytes of the whole database, with indexes and system catalogs. */
  readonly bytes: number;
  /** Number of ordinary tables, without temporary ones: a migration copies no rows of a materialized view. */
  readonly tables: number;
  readonly sequences: number;
  /** Number of tables, views, materialized views and foreign tables, without temporary ones. */
  readonly relations: number;
  readonly present: ReadonlySet<SchemaFeature>;
}

/**
 * The facts of a database are read in one statement, with one scan of each catalog, because each further statement or
 * subquery costs a new server process a tenth of a millisecond to plan. What an expression calls is left to the queries
 * that need it: to match its node tree with a pattern costs more than to send them.
 */
export const featuresQuery: PostgresqlQuery<FeatureOverview> = {
  id: 'database-overview',
  scope: 'database',
  sql: (version) => {
    const scans = catalogScans(version).map(({ from, where, features }) => {
      const tests = Object.entries(features).map(([feature, test]) => anyRowSql(feature, test));
      return `(SELECT concat_ws(' ', ${tests.join(', ')}) FROM ${from}${where === undefined ? '' : ` WHERE ${where}`})`;
    });
    const tests = Object.entries(databaseTests(version)).map(
      ([feature, test]) => `CASE WHEN ${test} THEN '${feature}' END`,
    );
    return `
      SELECT
        pg_database_size(current_database()) AS bytes,
        c.tables,
        c.sequences,
        c.relations,
        concat_ws(' ', c.present, ${[...scans, ...tests].join(', ')}) AS present
      FROM (
        SELECT
          count(*) FILTER (WHERE relkind = 'r' AND relpersistence <> 't') AS tables,
          count(*) FILTER (WHERE relkind = 'S') AS sequences,
          count(*) FILTER (WHERE relkind IN ('r', 'p', 'v', 'm', 'f') AND relpersistence <> 't') AS relations,
          concat_ws(' ', ${Object.entries(relationTests(version))
            .map(([feature, test]) => anyRowSql(feature, test))
            .join(', ')}) AS present
        FROM pg_class c
        WHERE oid >= '${firstNormalOid}'
      ) c
    `;
  },
  decode: ([row = {}]) => {
    const present = new Set(decodeText(row, 'present').split(' '));
    return {
      bytes: decodeNumber(row, 'bytes'),
      tables: decodeNumber(row, 'tables'),
      sequences: decodeNumber(row, 'sequences'),
      relations: decodeNumber(row, 'relations'),
      present: new Set(databaseFeatures.filter((thing) => present.has(thing))),
    };
  },
  absent: { bytes: 0, tables: 0, sequences: 0, relations: 0, present: new Set() },
};

/**
 * The feature if a row fulfils the test. A bool_or without FILTER makes the planner consider an index scan for each of
 * them, as for MIN and MAX, which takes a third of its time.
 */
function anyRowSql(feature: string, test: string): string {
  return `CASE WHEN bool_or(true) FILTER (WHERE ${test}) THEN '${feature}' END`;
}

/** A condition for `when`: true if the database has one of the features, or if its features are not known. */
export function featureCondition(...wanted: readonly SchemaFeature[]): (known: ValueReader) => boolean {
  return (known) => {
    const seen = known(featuresQuery);
    return seen === undefined || wanted.some((thing) => seen.present.has(thing));
  };
}

/**
 * Whether the database may have an expression that is evaluated for stored rows: a constraint, an index with an
 * expression, an operator class of a user or a partition key, or a generated column.
 */
export const hasStoredExpressions = featureCondition(
  ...(['checks', 'expressions', 'columns', 'relations', 'used-operators', 'superuser-objects'] as const),
);

/** Whether the database may have an expression that a dump writes out as text. */
export const hasDumpedExpressions = featureCondition(
  ...(['views', 'checks', 'defaults', 'expressions', 'functions', 'relations'] as const),
  ...(['publications', 'other-expressions'] as const),
);

/** A row of this many columns fits into a page: the widest type of fixed length, name, has 64 bytes. */
export const narrowColumns = 125;

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
  /** Whether users created collations, or use those of the operating system. */
  'collations',
  'domains',
  /** Whether users created range types for which PostgreSQL 14 and newer create multirange types. */
  'ranges',
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
  /** Whether the database has CHECK constraints, of tables or domains. */
  'checks',
  'not-valid',
  /** Whether columns or domains have defaults, or columns are generated. */
  'defaults',
  /** Whether the database has conditions of triggers, policies, or extended statistics. */
  'other-expressions',
  /** Whether triggers are ENABLE ALWAYS or ENABLE REPLICA; they may call a function of PostgreSQL itself. */
  'always-triggers',
  /** Whether constraints are enforced by triggers: foreign keys, and deferrable unique and exclusion constraints. */
  'constraint-triggers',
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
   * Whether columns may contain types that are written as bare names of functions or operators, or that only this
   * server can read. Every range, and every row type of a system catalog, may contain such a type.
   */
  'callables',
  /** Whether columns may contain types that can store what their input functions refuse. */
  'malformed-values',
  'labels',
  /** Whether objects of users have privileges, or default privileges exist. */
  'privileges',
  /** Whether the encoding is SQL_ASCII, in which a text may contain any bytes. */
  'any-bytes',
  /** Whether track_commit_timestamp is on. */
  'commit-times',
  /** Whether users or extensions created text search dictionaries. */
  'dictionaries',
  /**
   * Whether users or extensions created objects that only a superuser can create, and that need no function of a user.
   * Languages, operator families, and text search parsers and templates are found in pg_depend, because each further
   * catalog costs a tenth of a millisecond: each depends on its handler or on its schema.
   */
  'superuser-objects',
  /** Whether a stored expression or a view uses an operator of a user or an extension. */
  'used-operators',
  /** Whether the row of a cast of PostgreSQL itself was changed. */
  'changed-casts',
  /** Columns, tables, arguments or schemas with the name of a keyword of a later release. */
  'keyword-names',
  /** Tables with so many columns that a row may not fit into a page. */
  'wide-tables',
  /** Columns of tables whose long values are not compressed. */
  'storage',
] as const;

type SchemaFeature = (typeof databaseFeatures)[number];

type FeatureTests = Partial<Record<SchemaFeature, string>>;

const featureTypes = [...regprocTypes, ...serverSpecificTypes, ...transactionIdTypes];

/**
 * Condition: values of the type may contain one of the searched types. Row types of system catalogs and views, except
 * `catalogRowTypes`, have the ids that bootstrap and the scripts of initdb assigned.
 */
const mayContainSql = (type: string, types: readonly number[] = featureTypes) =>
  `${isOneOfSql([...types, ...catalogRowTypes], type)} OR ${type} BETWEEN '${firstGenbkiOid}' AND '${firstNormalOid - 1}'`;

/** Condition for an object of a user in a schema that every database has from the start, except public and pg_toast. */
const inSystemSchema = (schema: string) =>
  `${schema} < '${firstNormalOid}' AND ${schema} NOT IN ('${schemaOids.public}', '${schemaOids.pg_toast}')`;

/** Conditions for rows of pg_class (alias `c`). */
function relationTests(version: number): FeatureTests {
  const { reserved } = keywordNames(version);
  return {
    relations: `
      c.relnamespace <> '${schemaOids.pg_toast}'
        AND (${uncommonRelationSql} OR (c.relkind = 'r' AND (c.relreplident <> 'd' OR NOT ${primaryKeySql})))
    `,
    'system-tables': misplacedTableSql,
    'system-objects': `${inSystemSchema('relnamespace')} AND relkind IN ('v', 'm', 'S', 'f')`,
    privileges: 'relacl IS NOT NULL',
    'wide-tables': `relnatts > ${narrowColumns} AND relkind = 'r'`,
    ...(reserved === undefined ? {} : { 'keyword-names': `relname = ANY (${reserved})` }),
  };
}

/** The other catalogs that are read whole, or from the first object of a user. */
function catalogScans(
  version: number,
): readonly { readonly from: string; readonly where?: string; readonly features: FeatureTests }[] {
  const { all, reserved } = keywordNames(version);
  const { pg_amop, pg_attrdef, pg_amproc, pg_class, pg_constraint, pg_event_trigger, pg_operator } = catalogOids;
  const { pg_proc, pg_rewrite, pg_trigger, pg_ts_dict, pg_ts_parser, pg_ts_template, pg_type } = catalogOids;
  const { pg_language, pg_opfamily } = catalogOids;
  const callers = [pg_constraint, pg_class, pg_attrdef, pg_operator, pg_amproc, pg_type, pg_event_trigger, pg_rewrite];
  return [
    {
      from: 'pg_attribute',
      // A system column can have privileges too.
      where: `attrelid >= '${firstNormalOid}' AND (attnum > '0' OR attacl IS NOT NULL)`,
      features: {
        callables: mayContainSql('atttypid'),
        // Every TOAST table has such a column.
        storage:
          "attlen = -1 AND attstorage IN ('e', 'p') AND attrelid IN (SELECT oid FROM pg_class WHERE relkind = 'r')",
        privileges: 'attacl IS NOT NULL',
        'malformed-values': mayContainSql('atttypid', malformedTypes(version)),
        ...(version < 100_000
          ? {}
          : { columns: version < 120_000 ? "attidentity <> ''" : "attidentity <> '' OR attgenerated <> ''" }),
        ...(reserved === undefined ? {} : { 'keyword-names': `attname = ANY (${reserved})` }),
      },
    },
    {
      from: 'pg_type',
      where: `oid >= '${firstNormalOid}'`,
      features: {
        callables: `typtype = 'r' OR ${mayContainSql('typbasetype')}`,
        'malformed-values': `typtype = 'r' OR ${mayContainSql('typbasetype', malformedTypes(version))}`,
        'system-objects': inSystemSchema('typnamespace'),
        privileges: 'typacl IS NOT NULL',
        defaults: 'typdefaultbin IS NOT NULL',
        domains: "typtype = 'd'",
        'superuser-objects': "typtype = 'p'",
        ...(version < 140_000 ? { ranges: "typtype = 'r'" } : {}),
      },
    },
    {
      from: 'pg_proc',
      where: `oid >= '${firstNormalOid}'`,
      features: {
        functions: 'true',
        'system-objects': inSystemSchema('pronamespace'),
        privileges: 'proacl IS NOT NULL',
        ...(all === undefined ? {} : { 'keyword-names': `proargnames && ${all}` }),
      },
    },
    {
      from: 'pg_operator',
      where: `oid >= '${firstNormalOid}'`,
      features: {
        'system-objects': inSystemSchema('oprnamespace'),
        'superuser-objects': `oprcom BETWEEN '1' AND '${firstNormalOid - 1}' OR oprnegate BETWEEN '1' AND '${firstNormalOid - 1}'`,
      },
    },
    {
      from: 'pg_constraint',
      where: `oid >= '${firstNormalOid}'`,
      features: {
        checks: "contype = 'c'",
        'not-valid': 'NOT convalidated',
        ...(version >= 180_000 ? {} : { 'not-null-names': "right(conname::text, 9) = '_not_null'" }),
      },
    },
    {
      from: 'pg_index',
      features: {
        'invalid-indexes': 'NOT indisvalid',
        expressions: 'indexprs IS NOT NULL OR indpred IS NOT NULL',
      },
    },
    {
      from: 'pg_trigger',
      features: {
        'other-expressions': 'tgqual IS NOT NULL',
        'constraint-triggers': 'tgisinternal',
        'always-triggers': "NOT tgisinternal AND tgenabled IN ('A', 'R')",
      },
    },
    {
      from: 'pg_depend',
      where: `refclassid IN ('${pg_proc}', '${pg_operator}') AND refobjid >= '${firstNormalOid}'`,
      features: {
        'called-functions': `refclassid = '${pg_proc}' AND (classid IN (${callers.map((oid) => `'${oid}'`).join(', ')}) OR (classid = '${pg_trigger}' AND EXISTS (SELECT FROM pg_trigger WHERE tgenabled IN ('A', 'R'))))`,
        'used-operators': `refclassid = '${pg_operator}' AND classid NOT IN ('${pg_amop}', '${pg_operator}')`,
      },
    },
    {
      from: 'pg_depend',
      where: `classid IN (${[pg_ts_dict, pg_ts_parser, pg_ts_template, pg_language, pg_opfamily].map((oid) => `'${oid}'`).join(', ')}) AND objid >= '${firstNormalOid}'`,
      features: {
        dictionaries: `classid = '${pg_ts_dict}'`,
        'superuser-objects': `classid <> '${pg_ts_dict}'`,
      },
    },
    {
      from: 'pg_namespace',
      features: {
        privileges: `
          (oid >= '${firstNormalOid}' OR oid = '${schemaOids.public}') AND nspacl IS DISTINCT FROM (
            SELECT i.initprivs
            FROM pg_init_privs i
            WHERE i.objoid = pg_namespace.oid
              AND i.classoid = '${catalogOids.pg_namespace}'
              AND i.objsubid = '0'
          )
        `,
        ...(all === undefined ? {} : { 'keyword-names': `nspname::text = ANY (${all})` }),
      },
    },
    {
      from: 'pg_cast c',
      features: { 'changed-casts': isChangedCastSql, 'superuser-objects': `oid >= '${firstNormalOid}'` },
    },
  ];
}

/** Conditions that need no scan of a catalog beside others, because its first row answers them. */
function databaseTests(version: number): FeatureTests {
  const hasUser = (catalog: string) => `EXISTS (SELECT FROM ${catalog} WHERE oid >= '${firstNormalOid}')`;
  return {
    extensions: hasUser('pg_extension'),
    ...(version < 100_000 ? {} : { publications: 'EXISTS (SELECT FROM pg_publication)' }),
    collations: `${hasUser('pg_collation')} OR EXISTS (SELECT FROM pg_depend WHERE refclassid = '${catalogOids.pg_collation}' AND deptype <> 'p')`,
    'large-objects': 'EXISTS (SELECT FROM pg_largeobject_metadata)',
    heirs: 'EXISTS (SELECT FROM pg_inherits)',
    views: hasUser('pg_rewrite'),
    defaults: hasUser('pg_attrdef'),
    'other-expressions': `EXISTS (SELECT FROM pg_policy)${version < 100_000 ? '' : ' OR EXISTS (SELECT FROM pg_statistic_ext)'}`,
    labels: 'EXISTS (SELECT FROM pg_seclabel)',
    privileges: 'EXISTS (SELECT FROM pg_default_acl) OR EXISTS (SELECT FROM pg_language WHERE lanacl IS NOT NULL)',
    'any-bytes': "getdatabaseencoding() = 'SQL_ASCII'",
    'commit-times': "current_setting('track_commit_timestamp') = 'on'",
    'superuser-objects': ['pg_am', 'pg_foreign_data_wrapper', 'pg_opclass'].map(hasUser).join(' OR '),
  };
}

/** Array constants with the keywords of later releases, and with the reserved ones among them; undefined if there are none. */
function keywordNames(version: number): { readonly all: string | undefined; readonly reserved: string | undefined } {
  const later = laterKeywords.filter(({ since }) => since > version / 10_000);
  const list = (some: typeof later) =>
    some.length === 0 ? undefined : `'{${some.flatMap(({ words }) => words).join(',')}}'`;
  return { all: list(later), reserved: list(later.filter(({ isReserved }) => isReserved)) };
}
