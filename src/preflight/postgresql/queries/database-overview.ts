import type { PostgresqlQuery, ReadQueryResult } from '../query.ts';
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
  sql: (version) =>
    `SELECT pg_database_size(current_database()) AS bytes, (SELECT count(*) FROM pg_class WHERE oid >= '16384' AND (relkind = 'r' OR relkind = 'm') AND relpersistence <> 't') AS tables, ${version < 100_000 ? "(SELECT count(*) FROM pg_class WHERE relkind = 'S')" : '(SELECT count(*) FROM pg_sequence)'} AS sequences, concat_ws(' ', ${databaseFeatures
      .map((thing) => `CASE WHEN ${featureTests[thing](version)} THEN '${thing}' END`)
      .join(', ')}) AS present`,
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

const featureTests: Readonly<Record<DatabaseFeature, (version: number) => string>> = {
  relations: () =>
    `EXISTS (SELECT FROM pg_class c WHERE c.oid >= '16384' AND c.relnamespace <> '99' AND (${isNotPlainTableSql} OR (c.relkind = 'r' AND (c.relreplident <> 'd' OR NOT ${hasPrimaryKeySql}))))`,
  columns: hasGeneratedColumnsSql,
  functions: () => "EXISTS (SELECT FROM pg_proc WHERE oid >= '16384')",
  'called-functions': () => `EXISTS (SELECT FROM pg_depend d WHERE ${dependsOnUserFunctionSql})`,
  extensions: () => "EXISTS (SELECT FROM pg_extension WHERE oid >= '16384')",
  publications: (version) => (version < 100_000 ? 'false' : 'EXISTS (SELECT FROM pg_publication)'),
  collations: () => "EXISTS (SELECT FROM pg_collation WHERE oid >= '16384')",
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
        ([table, home]) =>
          `EXISTS (SELECT FROM ${table} WHERE oid >= '16384' AND ${home} < '16384' AND ${home} <> '2200' AND ${home} <> '99')`,
      )
      .join(' OR '),
  expressions: () =>
    "EXISTS (SELECT FROM pg_index WHERE indexrelid >= '16384' AND (indexprs IS NOT NULL OR indpred IS NOT NULL))",
  'odd-constraints': () =>
    `EXISTS (SELECT FROM pg_constraint WHERE oid >= '16384' AND (NOT convalidated OR (contype = 'c' AND conbin::text ~ '${clockPattern}|${settingsPattern}|${sessionPattern}')))`,
  'not-null-names': (version) =>
    version >= 180_000
      ? 'false'
      : "EXISTS (SELECT FROM pg_constraint WHERE oid >= '16384' AND right(conname::text, 9) = '_not_null')",
  heirs: () => 'EXISTS (SELECT FROM pg_inherits)',
  views: () => "EXISTS (SELECT FROM pg_rewrite WHERE oid >= '16384')",
  callables: () =>
    `EXISTS (SELECT FROM pg_attribute WHERE attrelid >= '16384' AND attnum > '0' AND ${isOneOfSql(featureTypes, 'atttypid')}) OR EXISTS (SELECT FROM pg_type WHERE oid >= '16384' AND ${isOneOfSql(featureTypes, 'typbasetype')})`,
  labels: () => 'EXISTS (SELECT FROM pg_seclabel)',
  'any-bytes': () => "getdatabaseencoding() = 'SQL_ASCII'",
  'commit-times': () => "current_setting('track_commit_timestamp') = 'on'",
  dictionaries: () => "EXISTS (SELECT FROM pg_depend WHERE classid = '3600' AND objid >= '16384')",
};

/**
 * What calls functions (1255) of a person when a row is written: a constraint (2606), an index or, before 15, a generated
 * column (1259), the default of one (2604), or an operator (2617) in them, an operator class (2603) or a range type (1247) of an
 * index; and what fires where changes are applied (a trigger,
 * 2620) or a publication is made (an event trigger, 3466). Those of extensions are told apart later.
 */
export const dependsOnUserFunctionSql =
  "d.refclassid = '1255' AND d.refobjid >= '16384' AND (d.classid = '2606' OR d.classid = '1259' OR d.classid = '2604' OR d.classid = '2617' OR d.classid = '2603' OR d.classid = '1247' OR d.classid = '3466' OR (d.classid = '2620' AND EXISTS (SELECT FROM pg_trigger t WHERE t.oid = d.objid AND (t.tgenabled = 'A' OR t.tgenabled = 'R'))))";

/** A publication for all tables has them, and no dump. Temporary tables, which have such a schema too, are of another persistence. */
export const isSystemSchemaTableSql =
  "c.oid >= '16384' AND (c.relkind = 'r' OR c.relkind = 'p') AND c.relpersistence = 'p' AND c.relnamespace IN (SELECT s.oid FROM pg_namespace s WHERE s.nspname = 'information_schema' OR left(s.nspname::text, 3) = 'pg_')";

/** 1299 is now(), 2647 to 2649 are those of transaction, statement and clock; CURRENT_DATE and its like are nodes of their own. */
const clockPattern = ':funcid (1299|264[789]) |SQLVALUEFUNCTION';

export const dependsOnClockSql = `contype = 'c' AND conbin::text ~ '${clockPattern}'`;

/** Functions that look a name up by the search_path and give NULL where they find none: to_regclass and its like, current_schema. */
export const nameLookupFunctions = '347[69]|349[2-5]|140[23]';

/** 2077 is current_setting, 745 and 746 are the functions of current_user and session_user, 1079 the cast of a text to regclass. */
const sessionPattern = `funcid (${nameLookupFunctions}|2077|74[56]|1079) |SQLVALUEFUNCTION :op (9|1[0-24]) `;

export const dependsOnSessionSql = `k.contype = 'c' AND k.conbin::text ~ '${sessionPattern}'`;

/** regproc, regoper and arrays of them: a name that has several meanings is written, and cannot be read again. */
export const regprocTypes: readonly string[] = ['24', '2203', '1008', '2208'];

/**
 * money, aclitem, regclass and arrays of them; pg_node_tree, pg_ndistinct, pg_dependencies, pg_mcv_list and what BRIN makes of
 * ranges, of which no value can be read.
 */
export const serverSpecificTypes: readonly string[] = '790 791 1033 1034 2205 2210 194 3361 3402 5017 4600 4601'.split(
  ' ',
);

const featureTypes = [...regprocTypes, ...serverSpecificTypes];

/** One constant, which is understood at once: every term of a list is understood by itself, and asked of every column. */
export function isOneOfSql(types: readonly string[], column: string): string {
  return `${column} = ANY ('{${types.join(',')}}')`;
}

/** Functions of the server that go by TimeZone, DateStyle or IntervalStyle. */
export const settingsDependentFunctions =
  '1171|1174|1176|1178|1189|1190|1217|130[5-7]|1386|1388|1768|1770|1778|1780|2019|202[78]|2047|2049|2059|235[1-7]|237[7-9]|238[0-3]|252[0-9]|253[0-3]|2549|3462|4135|6203|622[13]|633[4-6]';

const settingsPattern = `funcid (${settingsDependentFunctions}) |COERCEVIAIO`;

/** Of a person, with one of them, or with a value that is turned into text or made of one. */
export const dependsOnSettingsSql = `k.oid >= '16384' AND k.contype = 'c' AND k.conbin::text ~ '${settingsPattern}'`;

/** 99 is pg_toast, 1663 pg_default. */
export const isNotPlainTableSql =
  "(c.relkind = 'p' OR c.relkind = 'm' OR c.relkind = 'f' OR c.relpersistence <> 'p' OR c.relrowsecurity OR (c.reltablespace <> '0' AND c.reltablespace <> '1663'))";

const hasPrimaryKeySql =
  'EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary AND i.indisvalid AND i.indimmediate)';

/**
 * Since 15 the default of a generated column hangs on the column as an internal part, as the sequence of an identity column
 * always did, so that a range of one index finds both (1259 is pg_class); before it every attribute is read.
 */
function hasGeneratedColumnsSql(version: number): string {
  if (version < 100_000) return 'false';
  if (version >= 150_000) {
    return "EXISTS (SELECT FROM pg_depend WHERE refclassid = '1259' AND refobjid >= '16384' AND deptype = 'i' AND refobjsubid > '0')";
  }
  const generated = version < 120_000 ? '' : " OR attgenerated <> ''";
  return `EXISTS (SELECT FROM pg_attribute WHERE attidentity <> ''${generated})`;
}
