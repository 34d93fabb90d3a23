import { isRecord, parseJson, stringField } from '../../json.ts';
import type { PostgresqlRow } from '../../postgresql/connection.ts';

/** One object of a schema, and how to make it again. */
export interface SchemaPart {
  /** Catalogue and oid, `pg_class:16384`, as dependencies name it; parts without an entry of their own have made-up ones. */
  readonly id: string;
  readonly kind: PartKind;
  /** As a person would write it: `table public.orders`. */
  readonly name: string;
  /** What must be there before, beside what pg_depend knows. */
  readonly needs: readonly string[];
  /** What the target itself must have: `role:auditor`, `extension:postgis`, `language:plpgsql`. */
  readonly wants: readonly string[];
  readonly statements: readonly string[];
}

/** In the order in which they are made when nothing else decides. */
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

/** The versions of both servers, as server_version_num tells them. */
export interface ServerVersions {
  readonly from: number;
  readonly to: number;
}

/** A question whose rows are parts: `id`, `name`, and as JSON arrays `statements`, `needs`, `wants` (the last two may be absent). */
export interface PartQuery {
  readonly kind: PartKind;
  sql(versions: ServerVersions): string;
}

export function parsePart(kind: PartKind, row: PostgresqlRow): SchemaPart {
  return {
    id: row.id ?? '',
    kind,
    name: unquoteName(row.name ?? ''),
    needs: parseTextArray(row.needs),
    wants: parseTextArray(row.wants),
    statements: parseTextArray(row.statements),
  };
}

/** The server was told to quote everything; a person reads it more easily without. */
export function unquoteName(name: string): string {
  return name.replace(/"([a-z_][a-z0-9_]*)"/g, '$1');
}

/** A JSON array of texts; what is null in it is left out. */
export function parseTextArray(json: string | null | undefined): readonly string[] {
  if (json === null || json === undefined) return [];
  const read = parseJson(json);
  if (!read.ok || !Array.isArray(read.value)) throw new TypeError('the source wrote no list');
  return read.value.filter((entry): entry is string => typeof entry === 'string');
}

/** A JSON array of pairs of texts, `[{"from": "…", "to": "…"}]`. */
export function parsePairs(json: string | null | undefined): readonly (readonly [from: string, to: string])[] {
  const read = parseJson(json ?? '[]');
  if (!read.ok || !Array.isArray(read.value)) throw new TypeError('the source wrote no list');
  return read.value.flatMap((entry) => {
    const [from, to] = isRecord(entry) ? [stringField(entry, 'from'), stringField(entry, 'to')] : [];
    return from === undefined || to === undefined ? [] : [[from, to] as const];
  });
}
