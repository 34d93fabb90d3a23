import type { PostgresqlSession } from '../../../postgresql/connection.ts';
import { decodeBooleanColumn, decodeNumberColumnOrZero, decodeTextColumn } from '../../../postgresql/decode-row.ts';
import { queryCatalogRows } from './tables.ts';

/** What a migration creates in a database beside rows and privileges. */
interface DatabaseState {
  /** Version by name. */
  readonly extensions: ReadonlyMap<string, string>;
  /** Whether it has rows, by `schema.name`. */
  readonly materializedViews: ReadonlyMap<string, boolean>;
  readonly largeObjects: number;
  /** Tables with rows that were never analyzed, as `schema.name`. */
  readonly unanalyzed: readonly string[];
  /**
   * What guards and changes rows, such as `policy p on public.t`, with a text that is equal where the definition is. Texts that
   * each release prints in its own way, such as those of views and expressions, are no part of it.
   */
  readonly definitions: ReadonlyMap<string, string>;
}

export async function readDatabaseState(session: PostgresqlSession, version: number): Promise<DatabaseState> {
  const rows = await queryCatalogRows(session, stateSql);
  const definitions = await queryCatalogRows(session, definitionsSql(version));
  const of = (kind: string) => rows.filter((row) => decodeTextColumn(row, 'kind') === kind);
  return {
    extensions: new Map(of('extension').map((row) => [decodeTextColumn(row, 'name'), decodeTextColumn(row, 'value')])),
    materializedViews: new Map(
      of('view').map((row) => [decodeTextColumn(row, 'name'), decodeBooleanColumn(row, 'value')]),
    ),
    largeObjects: decodeNumberColumnOrZero(of('large objects')[0], 'value'),
    unanalyzed: of('unanalyzed').map((row) => decodeTextColumn(row, 'name')),
    definitions: new Map(definitions.map((row) => [decodeTextColumn(row, 'name'), decodeTextColumn(row, 'value')])),
  };
}

/** A crash of the server loses the time of ANALYZE, so reltuples, which is -1 before the first one (since 14), counts too. */
export const stateSql = `
  SELECT 'extension' AS kind, extname::text AS name, extversion AS value FROM pg_extension
  UNION ALL SELECT 'view', n.nspname || '.' || c.relname, CASE WHEN c.relispopulated THEN 't' ELSE 'f' END
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'm'
  UNION ALL SELECT 'large objects', '', count(*)::text FROM pg_largeobject_metadata
  UNION ALL SELECT 'unanalyzed', n.nspname || '.' || c.relname, ''
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_stat_all_tables s ON s.relid = c.oid
    WHERE c.relkind IN ('r', 'm') AND c.relpersistence = 'p' AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
      AND c.reltuples <= 0 AND s.last_analyze IS NULL AND s.last_autoanalyze IS NULL AND pg_relation_size(c.oid) > 0
  ORDER BY 1, 2`;

/** Objects of the server and of extensions are left out, and what a partition has from its parent. */
export function definitionsSql(version: number): string {
  const isOwn = version < 100_000 ? 'true' : 'NOT c.relispartition';
  const isPlain = version < 130_000 ? 'true' : 't.tgparentid = 0';
  const identity = version < 100_000 ? "''" : 'a.attidentity::text';
  const kind = version < 100_000 ? "'true'" : 'l.polpermissive::text';
  const tables = `pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace AND ${isUser('n', 'pg_class', 'c')}`;
  const on = "n.nspname || '.' || c.relname";
  const routines = `pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace AND ${isUser('n', 'pg_proc', 'p')}`;
  const routine = "n.nspname || '.' || p.proname || '(' || pg_get_function_identity_arguments(p.oid) || ')'";
  return `
  SELECT 'row security of ' || ${on} AS name, concat_ws(' ', c.relrowsecurity, c.relforcerowsecurity) AS value
    FROM ${tables} WHERE c.relrowsecurity
  UNION ALL SELECT 'policy ' || l.polname || ' on ' || ${on}, concat_ws(' ', l.polcmd, ${kind}, l.polqual IS NULL, l.polwithcheck IS NULL,
      (SELECT string_agg(coalesce(r.rolname::text, 'PUBLIC'), ',' ORDER BY r.rolname::text COLLATE "C")
       FROM unnest(l.polroles) u(oid) LEFT JOIN pg_roles r ON r.oid = u.oid))
    FROM pg_policy l JOIN ${tables} ON c.oid = l.polrelid
  UNION ALL SELECT 'trigger ' || t.tgname || ' on ' || ${on}, concat_ws(' ', t.tgenabled, t.tgtype, f.proname)
    FROM pg_trigger t JOIN pg_proc f ON f.oid = t.tgfoid JOIN ${tables} ON c.oid = t.tgrelid
    WHERE NOT t.tgisinternal AND ${isPlain} AND ${isOwn}
  UNION ALL SELECT 'rule ' || w.rulename || ' on ' || ${on}, concat_ws(' ', w.ev_type, w.ev_enabled)
    FROM pg_rewrite w JOIN ${tables} ON c.oid = w.ev_class WHERE w.rulename <> '_RETURN'
  UNION ALL SELECT 'constraint ' || k.conname || ' on ' || ${on}, concat_ws(' ', k.contype, k.condeferrable, k.condeferred)
    FROM pg_constraint k JOIN ${tables} ON c.oid = k.conrelid WHERE k.contype IN ('c', 'f', 'p', 'u', 'x') AND ${isOwn}
  UNION ALL SELECT 'index ' || ${on}, concat_ws(' ', i.indisunique, i.indisprimary)
    FROM pg_index i JOIN ${tables} ON c.oid = i.indexrelid WHERE i.indisvalid AND c.relkind IN ('i', 'I') AND ${isOwn}
  UNION ALL SELECT 'columns of ' || ${on}, md5(string_agg(concat_ws(' ', a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
      a.atthasdef, ${identity}), ',' ORDER BY a.attname::text COLLATE "C"))
    FROM pg_attribute a JOIN ${tables} ON c.oid = a.attrelid
    WHERE c.relkind IN ('r', 'p') AND c.relpersistence <> 't' AND a.attnum > 0 AND NOT a.attisdropped GROUP BY 1
  UNION ALL SELECT 'function ' || ${routine}, concat_ws(' ', g.lanname, p.prosecdef, p.provolatile, md5(p.prosrc))
    FROM ${routines} JOIN pg_language g ON g.oid = p.prolang
  UNION ALL SELECT 'setting ' || split_part(s.one, '=', 1) || ' of function ' || ${routine}, translate(s.one, '" ', '') FROM ${routines}, unnest(p.proconfig) s(one)
  UNION ALL SELECT 'enum ' || n.nspname || '.' || y.typname,
      (SELECT md5(string_agg(e.enumlabel::text, ',' ORDER BY e.enumsortorder)) FROM pg_enum e WHERE e.enumtypid = y.oid)
    FROM pg_type y JOIN pg_namespace n ON n.oid = y.typnamespace AND ${isUser('n', 'pg_type', 'y')} WHERE y.typtype = 'e'
  ORDER BY 1`;
}

function isUser(schema: string, catalog: string, object: string): string {
  return `${schema}.nspname !~ '^pg_' AND ${schema}.nspname <> 'information_schema' AND NOT EXISTS (SELECT FROM pg_depend d
      WHERE d.classid = '${catalog}'::regclass AND d.objid = ${object}.oid AND d.deptype = 'e')`;
}

/** The lines of the checklist that compare this state; a fact is the list of what differs. */
export interface StateDifference {
  readonly extensions: readonly string[];
  readonly materializedViews: readonly string[];
  readonly largeObjects: readonly string[];
  readonly unanalyzed: readonly string[];
  readonly definitions: readonly string[];
}

export function findStateDifference(source: DatabaseState, target: DatabaseState): StateDifference {
  const extensions = [...source.extensions].flatMap(([name, version]) => {
    const there = target.extensions.get(name);
    if (there === undefined) return [`${name} ${version} is missing`];
    return isOlder(there, version) ? [`${name} is ${there} instead of ${version}`] : [];
  });
  const materializedViews = [...source.materializedViews].flatMap(([name, isPopulated]) => {
    const there = target.materializedViews.get(name);
    if (there === undefined) return [`${name} is missing`];
    return isPopulated && !there ? [`${name} is empty`] : [];
  });
  const [here, there] = [source.largeObjects, target.largeObjects];
  return {
    extensions,
    materializedViews,
    largeObjects: here === there ? [] : [`${there} instead of ${here}`],
    unanalyzed: target.unanalyzed,
    definitions: [...source.definitions].flatMap(([name, value]) => {
      const now = target.definitions.get(name);
      return now === value ? [] : [`${name} ${now === undefined ? 'is missing' : 'differs'}`];
    }),
  };
}

/** Of versions such as `3.4.1`, number by number; others are not compared, because their order is the extension's. */
function isOlder(one: string, other: string): boolean {
  const parts = [one, other].map((version) => (/^\d+(\.\d+)*$/.test(version) ? version.split('.').map(Number) : []));
  const [left = [], right = []] = parts;
  const at = left.findIndex((part, index) => part !== right[index]);
  return at >= 0 && right[at] !== undefined && (left[at] ?? 0) < (right[at] ?? 0);
}
