import { firstNormalOid } from '../../../postgresql/catalog-oids.ts';
import { type PostgresqlRow, parseArray } from '../../../postgresql/rows.ts';

/** One object of a schema, with the statements that create it. */
export interface SchemaObject {
  /**
   * Id of the part: catalog and oid as in pg_depend, for example `pg_class:16384`. Ids of parts without a catalog entry
   * have a prefix of their own.
   */
  readonly id: string;
  readonly kind: ObjectKind;
  /** Type and name of the object for messages: `table public.orders`. */
  readonly name: string;
  /** Ids of parts that must be created before this part, in addition to those in pg_depend. */
  readonly dependsOn: readonly string[];
  /** What the target must provide for the part: `role:auditor`, `extension:postgis`, `language:plpgsql`. */
  readonly requirements: readonly string[];
  readonly statements: readonly string[];
}

/** The kinds of parts, in the order of creation for parts that do not depend on each other. */
export const objectKinds = [
  'schema',
  'extension',
  'collation',
  'type',
  'domain constraint',
  'function',
  'aggregate',
  'cast',
  'sequence',
  'table',
  'default',
  'view',
  'check',
  'key',
  'index',
  'index partition',
  'owned sequence',
  'setting',
  'statistics',
  'trigger',
  'rule',
  'policy',
  'foreign key',
  'publication',
  'comment',
  'event trigger',
] as const;
export type ObjectKind = (typeof objectKinds)[number];

/** `server_version_num` of the source (`from`) and the target (`to`). */
export interface Versions {
  readonly from: number;
  readonly to: number;
}

/**
 * A query whose rows are parts of a schema: its columns are `id`, `name`, and the arrays `statements`, `depends_on` and
 * `requirements` (the last two are optional).
 */
export interface ObjectQuery {
  readonly kind: ObjectKind;
  sql(versions: Versions): string;
}

export function decodeObject(kind: ObjectKind, row: PostgresqlRow): SchemaObject {
  return {
    id: row.id ?? '',
    kind,
    name: plainName(row.name ?? ''),
    dependsOn: parseTextArrayWithoutNulls(row.depends_on),
    requirements: parseTextArrayWithoutNulls(row.requirements),
    statements: parseTextArrayWithoutNulls(row.statements),
  };
}

/** Removes quotes that a name does not need, because the session sets quote_all_identifiers. */
export function plainName(name: string): string {
  return name.replace(/"([a-z_][a-z0-9_]*)"/g, '$1');
}

/** The elements of a text array, without nulls. */
function parseTextArrayWithoutNulls(text: string | null | undefined): readonly string[] {
  return text == null ? [] : parseArray(text).filter((entry) => entry !== null);
}

/** SQL condition: a user object that belongs to no extension. Arguments of these functions are not escaped. */
export function isUserObject(catalogue: string, oid: string): string {
  return `(${oid} >= ${firstNormalOid} AND NOT EXISTS (SELECT FROM pg_depend member
    WHERE member.classid = '${catalogue}'::regclass AND member.objid = ${oid} AND member.deptype = 'e'))`;
}

/** SQL expression: name of the catalog with this oid, without the quotes that quote_all_identifiers adds. */
export function catalogName(oid: string): string {
  return `trim('"' FROM ${oid}::regclass::text)`;
}

/** SQL condition: `n`, a row of pg_namespace, is not a system schema. */
export const isUserSchema = "n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'";

/**
 * FROM clause: user relations as `c`, with their schemas as `n`.
 * @param letters values of relkind: `rp`
 */
export function userRelations(letters: string): string {
  return `pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    AND c.relkind::text IN (${[...letters].map((letter) => `'${letter}'`).join(', ')})
    AND ${isUserSchema} AND ${isUserObject('pg_class', 'c.oid')}`;
}

/** SQL expression: storage options such as `"fillfactor"='70', "toast"."…"='…'`, or null if there are none. */
export function storageParameters(options: string, prefix = ''): string {
  return `(SELECT string_agg(format('${prefix}%I=%L', option_name, option_value), ', ')
    FROM pg_options_to_table(${options}))`;
}

/** SQL expression: ` COLLATE "s"."c"` if the collation is not the default of the type, else an empty string. */
export function collateClause(collation: string, type: string): string {
  return `coalesce((SELECT format(' COLLATE %I.%I', cn.nspname, co.collname)
    FROM pg_collation co JOIN pg_namespace cn ON cn.oid = co.collnamespace
    WHERE co.oid = ${collation} AND co.oid <> (SELECT typcollation FROM pg_type WHERE oid = ${type})), '')`;
}

/** SQL expression: the options of CREATE SEQUENCE and of identity columns; `s` is a row of pg_sequence. */
export const sequenceOptions = `format('START WITH %s INCREMENT BY %s MINVALUE %s MAXVALUE %s CACHE %s%s', s.seqstart,
    s.seqincrement, s.seqmin, s.seqmax, s.seqcache,
    CASE WHEN s.seqcycle THEN ' CYCLE' ELSE ' NO CYCLE' END)`;

/** SQL expression: array of the given text expressions, without nulls. */
export function textArray(...entries: readonly string[]): string {
  return `array_remove(ARRAY[${entries.join(', ')}]::text[], NULL)`;
}

/** SQL expression: concatenates the given text arrays, without nulls. */
export function joinArrays(...arrays: readonly string[]): string {
  return `array_remove((${arrays.map((array) => `${array}::text[]`).join(' || ')}), NULL)`;
}
