import type { PostgresqlSession } from '../../../postgresql/connection.ts';
import { decodeBooleanColumn, decodeNumberColumnOrZero, decodeTextColumn } from '../../../postgresql/decode-row.ts';
import { queryCatalogRows } from './rehearsal-tables.ts';

/** What a migration creates in a database beside rows and privileges. */
interface DatabaseState {
  /** Version by name. */
  readonly extensions: ReadonlyMap<string, string>;
  /** Whether it has rows, by `schema.name`. */
  readonly materializedViews: ReadonlyMap<string, boolean>;
  readonly largeObjects: number;
  /** Tables with rows that were never analyzed, as `schema.name`. */
  readonly unanalyzed: readonly string[];
}

export async function readDatabaseState(session: PostgresqlSession): Promise<DatabaseState> {
  const rows = await queryCatalogRows(session, stateSql);
  const of = (kind: string) => rows.filter((row) => decodeTextColumn(row, 'kind') === kind);
  return {
    extensions: new Map(of('extension').map((row) => [decodeTextColumn(row, 'name'), decodeTextColumn(row, 'value')])),
    materializedViews: new Map(
      of('view').map((row) => [decodeTextColumn(row, 'name'), decodeBooleanColumn(row, 'value')]),
    ),
    largeObjects: decodeNumberColumnOrZero(of('large objects')[0], 'value'),
    unanalyzed: of('unanalyzed').map((row) => decodeTextColumn(row, 'name')),
  };
}

/** A crash of the server loses the time of ANALYZE, so reltuples, which is -1 before the first one (since 14), counts too. */
const stateSql = `
  SELECT 'extension' AS kind, extname::text AS name, extversion AS value FROM pg_extension
  UNION ALL SELECT 'view', n.nspname || '.' || c.relname, CASE WHEN c.relispopulated THEN 't' ELSE 'f' END
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'm'
  UNION ALL SELECT 'large objects', '', count(*)::text FROM pg_largeobject_metadata
  UNION ALL SELECT 'unanalyzed', n.nspname || '.' || c.relname, ''
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_stat_all_tables s ON s.relid = c.oid
    WHERE c.relkind IN ('r', 'm') AND c.relpersistence = 'p' AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
      AND c.reltuples <= 0 AND s.last_analyze IS NULL AND s.last_autoanalyze IS NULL AND pg_relation_size(c.oid) > 0
  ORDER BY 1, 2`;

/** The lines of the checklist that compare this state; a fact is the list of what differs. */
export interface StateDifference {
  readonly extensions: readonly string[];
  readonly materializedViews: readonly string[];
  readonly largeObjects: readonly string[];
  readonly unanalyzed: readonly string[];
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
  };
}

/** Of versions such as `3.4.1`, number by number; others are not compared, because their order is the extension's. */
function isOlder(one: string, other: string): boolean {
  const parts = [one, other].map((version) => (/^\d+(\.\d+)*$/.test(version) ? version.split('.').map(Number) : []));
  const [left = [], right = []] = parts;
  const at = left.findIndex((part, index) => part !== right[index]);
  return at >= 0 && right[at] !== undefined && (left[at] ?? 0) < (right[at] ?? 0);
}
