import { firstNormalOid } from '../../../postgresql/catalog-oids.ts';
import type { PostgresqlSession } from '../../../postgresql/connection.ts';
import { decodeBoolean, decodeNumber, decodeOptionalText, decodeText } from '../../../postgresql/rows.ts';
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
  /** The owners, whose members this login is not and may become, of such tables and of views without rows. */
  readonly foreignOwners: readonly string[];
  /** The other such owners. */
  readonly keptOwners: readonly string[];
  /** What guards, computes and changes rows, by a name such as `policy p on public.t`. */
  readonly definitions: ReadonlyMap<string, Definition>;
  /** server_version_num. */
  readonly version: number;
}

interface Definition {
  readonly value: string;
  readonly text: string | undefined;
  readonly exact: string | undefined;
}

export async function readDatabaseState(session: PostgresqlSession, version: number): Promise<DatabaseState> {
  const rows = await queryCatalogRows(session, stateSql(version));
  const definitions = await queryCatalogRows(session, definitionsSql(version));
  const of = (kind: string) => rows.filter((row) => decodeText(row, 'kind') === kind);
  return {
    extensions: new Map(of('extension').map((row) => [decodeText(row, 'name'), decodeText(row, 'value')])),
    materializedViews: new Map(of('view').map((row) => [decodeText(row, 'name'), decodeBoolean(row, 'value')])),
    largeObjects: decodeNumber(of('large objects')[0], 'value'),
    unanalyzed: of('unanalyzed').map((row) => decodeText(row, 'name')),
    foreignOwners: [...new Set(rows.flatMap((row) => decodeOptionalText(row, 'owner') ?? []))],
    keptOwners: [...new Set(rows.flatMap((row) => decodeOptionalText(row, 'kept') ?? []))],
    definitions: new Map(
      definitions.map((row) => [
        decodeText(row, 'name'),
        {
          value: decodeText(row, 'value'),
          text: decodeOptionalText(row, 'text'),
          exact: decodeOptionalText(row, 'exact'),
        },
      ]),
    ),
    version,
  };
}

/**
 * The owner of the relation `c`, in one of two columns: who becomes a member of a superuser or of a role of the server gains
 * more than its tables. Before PostgreSQL 16 a GRANT changes nothing for a member, and REVOKE would end the membership.
 */
function foreignOwner(version: number): string {
  const isForeign = "NOT pg_has_role(c.relowner, 'USAGE')";
  const isKept = `(c.relowner < '${firstNormalOid}'
      OR EXISTS (SELECT FROM pg_roles r WHERE r.rolsuper AND pg_has_role(c.relowner, r.oid, 'MEMBER'))${version < 160_000 ? " OR pg_has_role(c.relowner, 'MEMBER')" : ''})`;
  const name = 'pg_get_userbyid(c.relowner)::text';
  return `CASE WHEN ${isForeign} AND NOT ${isKept} THEN ${name} END, CASE WHEN ${isForeign} AND ${isKept} THEN ${name} END`;
}

/** A crash of the server loses the time of ANALYZE, so reltuples, which is -1 before the first one (since 14), counts too. */
export const stateSql = (version: number): string => `
  SELECT 'extension' AS kind, extname::text AS name, extversion AS value, NULL::text AS owner, NULL::text AS kept FROM pg_extension
  UNION ALL SELECT 'view', n.nspname || '.' || c.relname, 't', NULL, NULL
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'm' AND c.relispopulated
  UNION ALL SELECT 'view', n.nspname || '.' || c.relname, 'f', ${foreignOwner(version)}
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'm' AND NOT c.relispopulated
  UNION ALL SELECT 'large objects', '', count(*)::text, NULL, NULL FROM pg_largeobject_metadata
  UNION ALL SELECT 'unanalyzed', n.nspname || '.' || c.relname, '', ${foreignOwner(version)}
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_stat_all_tables s ON s.relid = c.oid
    WHERE c.relkind IN ('r', 'm') AND c.relpersistence = 'p' AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
      AND c.reltuples <= 0 AND s.last_analyze IS NULL AND s.last_autoanalyze IS NULL AND pg_relation_size(c.oid) > 0
  ORDER BY 1, 2`;

/**
 * Columns `name`, `value`, which is equal in every release, `text`, an expression or a definition that releases since 14 write
 * alike, and `exact`, which only the same release does. Objects of the server and of extensions are left out, and what a partition
 * or a foreign key to a partition has from its parent.
 */
export function definitionsSql(version: number): string {
  const since = (first: number, sql: string, before: string) => (version < first ? before : sql);
  const isOwn = since(100_000, 'NOT c.relispartition', 'true');
  const isPlain = since(130_000, 't.tgparentid = 0', 'true');
  const isFirst = since(110_000, 'k.conparentid = 0', 'true');
  const identity = since(100_000, 'a.attidentity::text', "''");
  const permissive = since(100_000, 'l.polpermissive::text', "'true'");
  const bound = since(100_000, 'pg_get_expr(c.relpartbound, c.oid)', "''");
  const body = since(140_000, 'pg_get_function_sqlbody(p.oid)', "''");
  const tables = `pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace AND ${isUser('n', 'pg_class', 'c')}`;
  const on = "n.nspname || '.' || c.relname";
  const routines = `pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace AND ${isUser('n', 'pg_proc', 'p')}`;
  const routine = "n.nspname || '.' || p.proname || '(' || pg_get_function_identity_arguments(p.oid) || ')'";
  const types = `pg_type y JOIN pg_namespace n ON n.oid = y.typnamespace AND ${isUser('n', 'pg_type', 'y')}`;
  const sequences = `
  UNION ALL SELECT 'sequence ' || ${on}, concat_ws(' ', q.seqincrement, q.seqmin, q.seqmax, q.seqcache, q.seqcycle), NULL, NULL
    FROM pg_sequence q JOIN ${tables} ON c.oid = q.seqrelid`;
  return `
  SELECT 'row security of ' || ${on} AS name, concat_ws(' ', c.relrowsecurity, c.relforcerowsecurity) AS value,
      NULL AS text, NULL AS exact
    FROM ${tables} WHERE c.relrowsecurity
  UNION ALL SELECT 'policy ' || l.polname || ' on ' || ${on}, concat_ws(' ', l.polcmd, ${permissive}, l.polqual IS NULL, l.polwithcheck IS NULL,
      (SELECT string_agg(coalesce(r.rolname::text, 'PUBLIC'), ',' ORDER BY r.rolname::text COLLATE "C")
       FROM unnest(l.polroles) u(oid) LEFT JOIN pg_roles r ON r.oid = u.oid)),
      concat_ws(' / ', pg_get_expr(l.polqual, l.polrelid), pg_get_expr(l.polwithcheck, l.polrelid)), NULL
    FROM pg_policy l JOIN ${tables} ON c.oid = l.polrelid
  UNION ALL SELECT 'trigger ' || t.tgname || ' on ' || ${on}, concat_ws(' ', t.tgenabled, t.tgtype, f.proname), pg_get_triggerdef(t.oid), NULL
    FROM pg_trigger t JOIN pg_proc f ON f.oid = t.tgfoid JOIN ${tables} ON c.oid = t.tgrelid
    WHERE NOT t.tgisinternal AND ${isPlain} AND ${isOwn}
  UNION ALL SELECT 'rule ' || w.rulename || ' on ' || ${on}, concat_ws(' ', w.ev_type, w.ev_enabled), NULL, pg_get_ruledef(w.oid)
    FROM pg_rewrite w JOIN ${tables} ON c.oid = w.ev_class WHERE w.rulename <> '_RETURN'
  UNION ALL SELECT 'constraint ' || k.conname || ' on ' || ${on}, concat_ws(' ', k.contype, k.condeferrable, k.condeferred, k.convalidated,
      k.connoinherit, k.confupdtype, k.confdeltype, k.confmatchtype, r.relname), pg_get_constraintdef(k.oid), NULL
    FROM pg_constraint k JOIN ${tables} ON c.oid = k.conrelid LEFT JOIN pg_class r ON r.oid = k.confrelid
    WHERE k.contype IN ('c', 'f', 'p', 'u', 'x') AND ${isOwn} AND ${isFirst}
  UNION ALL SELECT 'constraint ' || k.conname || ' on domain ' || n.nspname || '.' || y.typname, k.convalidated::text, pg_get_constraintdef(k.oid), NULL
    FROM pg_constraint k JOIN ${types} ON y.oid = k.contypid WHERE k.contype = 'c'
  UNION ALL SELECT CASE WHEN i.indisunique THEN 'unique ' ELSE '' END || 'index ' || o.relname || ' on ' || ${on}, i.indisprimary::text,
      pg_get_indexdef(i.indexrelid), NULL
    FROM pg_index i JOIN pg_class o ON o.oid = i.indexrelid JOIN ${tables} ON c.oid = i.indrelid
    WHERE i.indisvalid AND c.relkind <> 't' AND ${isOwn}
  UNION ALL SELECT 'columns of ' || ${on}, md5(string_agg(concat_ws(' ', a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
      a.atthasdef, ${identity}), ',' ORDER BY a.attname::text COLLATE "C")), NULL, NULL
    FROM pg_attribute a JOIN ${tables} ON c.oid = a.attrelid
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f', 'c') AND c.relpersistence <> 't' AND a.attnum > 0 AND NOT a.attisdropped AND ${isOwn} GROUP BY 1
  UNION ALL SELECT 'default of ' || a.attname || ' of ' || ${on}, '', pg_get_expr(d.adbin, d.adrelid), NULL
    FROM pg_attrdef d JOIN pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum JOIN ${tables} ON c.oid = d.adrelid
    WHERE ${isOwn}
  UNION ALL SELECT 'parent ' || r.relname || ' of ' || ${on}, '', ${bound}, NULL
    FROM pg_inherits h JOIN pg_class r ON r.oid = h.inhparent JOIN ${tables} ON c.oid = h.inhrelid WHERE c.relkind IN ('r', 'p', 'f')
  UNION ALL SELECT 'view ' || ${on}, c.relkind::text, NULL, pg_get_viewdef(c.oid) FROM ${tables} WHERE c.relkind IN ('v', 'm')${since(100_000, sequences, '')}
  UNION ALL SELECT 'function ' || ${routine}, concat_ws(' ', g.lanname, p.prosecdef, p.provolatile, p.proisstrict, p.proretset,
      format_type(p.prorettype, NULL), md5(p.prosrc)), NULL, ${body}
    FROM ${routines} JOIN pg_language g ON g.oid = p.prolang
  UNION ALL SELECT 'setting ' || split_part(s.one, '=', 1) || ' of function ' || ${routine}, translate(s.one, '" ', ''), NULL, NULL
    FROM ${routines}, unnest(p.proconfig) s(one)
  UNION ALL SELECT 'domain ' || n.nspname || '.' || y.typname, concat_ws(' ', format_type(y.typbasetype, y.typtypmod), y.typnotnull),
      pg_get_expr(y.typdefaultbin, 0), NULL
    FROM ${types} WHERE y.typtype = 'd'
  UNION ALL SELECT 'enum ' || n.nspname || '.' || y.typname,
      (SELECT md5(string_agg(e.enumlabel::text, ',' ORDER BY e.enumsortorder)) FROM pg_enum e WHERE e.enumtypid = y.oid), NULL, NULL
    FROM ${types} WHERE y.typtype = 'e'
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
  /** The roles of which the login must be a member to analyze these tables and to refresh these views. */
  readonly foreignOwners: readonly string[];
  /** The owners whose tables and views are left to a superuser, because the login should not become a member. */
  readonly keptOwners: readonly string[];
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
  const isLeft = target.unanalyzed.length + materializedViews.length > 0;
  const [here, there] = [source.largeObjects, target.largeObjects];
  return {
    extensions,
    materializedViews,
    largeObjects: here === there ? [] : [`${there} instead of ${here}`],
    unanalyzed: target.unanalyzed,
    foreignOwners: isLeft ? target.foreignOwners : [],
    keptOwners: isLeft ? target.keptOwners : [],
    definitions: differingDefinitions(source, target),
  };
}

function differingDefinitions(source: DatabaseState, target: DatabaseState): readonly string[] {
  const hasTexts = source.version >= 140_000 && target.version >= 140_000;
  const isSameRelease = Math.floor(source.version / 10_000) === Math.floor(target.version / 10_000);
  const isEqual = (one: Definition, other: Definition): boolean =>
    one.value === other.value &&
    (!(hasTexts || isSameRelease) || one.text === other.text) &&
    (!isSameRelease || one.exact === other.exact);
  // A table, view or partition that only one side has says it all; its columns and constraints would repeat it.
  const heads = new Map<string, string>();
  for (const kind of [/^columns of (.*)$/s, /^view (.*)$/s, /^parent .* of (.*)$/s])
    for (const name of new Set([...source.definitions.keys(), ...target.definitions.keys()])) {
      const table = kind.exec(name)?.[1];
      if (table !== undefined && source.definitions.has(name) !== target.definitions.has(name)) heads.set(table, name);
    }
  const isRepeated = (name: string): boolean => {
    const table = / (?:on|of) (\S+\.\S+)$|^view (.*)$/s
      .exec(name)
      ?.slice(1)
      .find((one) => one !== undefined);
    const head = table === undefined ? undefined : heads.get(table);
    return head !== undefined && head !== name;
  };
  const changed = [...source.definitions].flatMap(([name, definition]) => {
    const there = target.definitions.get(name);
    if (isRepeated(name) || (there !== undefined && isEqual(definition, there))) return [];
    return [`${name} ${there === undefined ? 'is missing' : 'differs'}`];
  });
  // A constraint or a trigger that only the target has can refuse or change rows; an index or a function cannot.
  const more = [...target.definitions.keys()].flatMap((name) => {
    const table = harmful.exec(name)?.[1];
    const isKnown = table !== undefined && source.definitions.has(`columns of ${table}`);
    return isKnown && !source.definitions.has(name) && !isRepeated(name) ? [`${name} is only on the target`] : [];
  });
  return [...changed, ...more];
}

const harmful = /^(?:row security of|(?:policy|trigger|rule|constraint|unique index) .* on|parent .* of) (.*)$/s;

/** Of versions such as `3.4.1`, number by number; others are not compared, because their order is the extension's. */
function isOlder(one: string, other: string): boolean {
  const parts = [one, other].map((version) => (/^\d+(\.\d+)*$/.test(version) ? version.split('.').map(Number) : []));
  const [left = [], right = []] = parts;
  const at = left.findIndex((part, index) => part !== right[index]);
  return at >= 0 && right[at] !== undefined && (left[at] ?? 0) < (right[at] ?? 0);
}
