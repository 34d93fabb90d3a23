import { isRecord, parseJson, stringField } from '../../json.ts';
import type { PostgresqlRow } from '../../postgresql/postgresql-row.ts';

/** One object of a schema, with the statements that create it. */
export interface SchemaPart {
  /** Catalog and oid, `pg_class:16384`, as in pg_depend. Parts without a catalog entry have a prefix of their own. */
  readonly id: string;
  readonly kind: PartKind;
  /** For messages: `table public.orders`. */
  readonly name: string;
  /** Ids of parts that must be created before, in addition to pg_depend. */
  readonly dependsOn: readonly string[];
  /** What the target must provide: `role:auditor`, `extension:postgis`, `language:plpgsql`. */
  readonly requirements: readonly string[];
  readonly statements: readonly string[];
}

/** In the order of creation where dependencies do not decide. */
export const partKinds = [
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
export type PartKind = (typeof partKinds)[number];

/** `server_version_num` of the source (`from`) and the target (`to`). */
export interface ServerVersions {
  readonly from: number;
  readonly to: number;
}

/**
 * A query whose rows are parts: `id`, `name`, and as JSON arrays `statements`, `depends_on`, `requirements` (the last two are
 * optional).
 */
export interface PartQuery {
  readonly kind: PartKind;
  sql(versions: ServerVersions): string;
}

export function parsePart(kind: PartKind, row: PostgresqlRow): SchemaPart {
  return {
    id: row.id ?? '',
    kind,
    name: unquoteName(row.name ?? ''),
    dependsOn: parseTextArray(row.depends_on),
    requirements: parseTextArray(row.requirements),
    statements: parseTextArray(row.statements),
  };
}

/** Removes quotes that a name does not need: the session sets quote_all_identifiers. */
export function unquoteName(name: string): string {
  return name.replace(/"([a-z_][a-z0-9_]*)"/g, '$1');
}

/** Parses a JSON array of strings and leaves out nulls. */
export function parseTextArray(json: string | null | undefined): readonly string[] {
  if (json === null || json === undefined) return [];
  const read = parseJson(json);
  if (!read.ok || !Array.isArray(read.value)) throw new TypeError('the source did not return a JSON array');
  return read.value.filter((entry): entry is string => typeof entry === 'string');
}

/** Parses a JSON array of pairs, `[{"from": "…", "to": "…"}]`. */
export function parsePairs(json: string | null | undefined): readonly (readonly [from: string, to: string])[] {
  const read = parseJson(json ?? '[]');
  if (!read.ok || !Array.isArray(read.value)) throw new TypeError('the source did not return a JSON array');
  return read.value.flatMap((entry) => {
    const [from, to] = isRecord(entry) ? [stringField(entry, 'from'), stringField(entry, 'to')] : [];
    return from === undefined || to === undefined ? [] : [[from, to] as const];
  });
}
