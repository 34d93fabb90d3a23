import { parsePostgresqlArray } from '../../../postgresql/nested-text.ts';
import type { PostgresqlRow } from '../../../postgresql/postgresql-row.ts';

/** One object of a schema, with the statements that create it. */
export interface SchemaObjectDefinition {
  /**
   * Id of the part: catalog and oid as in pg_depend, for example `pg_class:16384`. Ids of parts without a catalog entry
   * have a prefix of their own.
   */
  readonly id: string;
  readonly kind: SchemaObjectKind;
  /** Type and name of the object for messages: `table public.orders`. */
  readonly name: string;
  /** Ids of parts that must be created before this part, in addition to those in pg_depend. */
  readonly dependsOn: readonly string[];
  /** What the target must provide for the part: `role:auditor`, `extension:postgis`, `language:plpgsql`. */
  readonly requirements: readonly string[];
  readonly statements: readonly string[];
}

/** The kinds of parts, in the order of creation for parts that do not depend on each other. */
export const schemaObjectKinds = [
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
export type SchemaObjectKind = (typeof schemaObjectKinds)[number];

/** `server_version_num` of the source (`from`) and the target (`to`). */
export interface SourceAndTargetVersions {
  readonly from: number;
  readonly to: number;
}

/**
 * A query whose rows are parts of a schema: its columns are `id`, `name`, and the arrays `statements`, `depends_on` and
 * `requirements` (the last two are optional).
 */
export interface SchemaObjectDefinitionQuery {
  readonly kind: SchemaObjectKind;
  sql(versions: SourceAndTargetVersions): string;
}

export function decodeSchemaObjectDefinition(kind: SchemaObjectKind, row: PostgresqlRow): SchemaObjectDefinition {
  return {
    id: row.id ?? '',
    kind,
    name: removeUnneededIdentifierQuotes(row.name ?? ''),
    dependsOn: parseTextArrayWithoutNulls(row.depends_on),
    requirements: parseTextArrayWithoutNulls(row.requirements),
    statements: parseTextArrayWithoutNulls(row.statements),
  };
}

/** Removes quotes that a name does not need, because the session sets quote_all_identifiers. */
export function removeUnneededIdentifierQuotes(name: string): string {
  return name.replace(/"([a-z_][a-z0-9_]*)"/g, '$1');
}

/** The elements of a text array, without nulls. */
function parseTextArrayWithoutNulls(text: string | null | undefined): readonly string[] {
  return text == null ? [] : parsePostgresqlArray(text).filter((entry) => entry !== null);
}
