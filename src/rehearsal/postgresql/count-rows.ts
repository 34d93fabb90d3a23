import type { PinnedSession } from '../../postgresql/pinned-session.ts';
import { quoteIdentifier } from '../../postgresql/quote.ts';

type QuerySession = Pick<PinnedSession, 'query'>;

export interface CountedTable {
  /** `schema.table`, unquoted. */
  readonly name: string;
  readonly quoted: string;
  /** Replication skips unlogged tables. */
  readonly isUnlogged: boolean;
}

/** Relations of users; tables of an extension are created with it. */
const userRelations = `n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
  AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')`;

/** Every table that stores rows. */
export async function listTables(session: QuerySession): Promise<readonly CountedTable[]> {
  const rows = await session.query(
    `SELECT n.nspname, c.relname, c.relpersistence FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE c.relkind = 'r' AND c.relpersistence <> 't' AND ${userRelations} ORDER BY 1, 2`,
  );
  return (rows.at(-1) ?? []).map(({ nspname, relname, relpersistence }) => ({
    name: `${nspname}.${relname}`,
    quoted: `${quoteIdentifier(nspname ?? '')}.${quoteIdentifier(relname ?? '')}`,
    isUnlogged: relpersistence === 'u',
  }));
}

/**
 * Exact row counts by table name, without tables that do not exist.
 * @param limit milliseconds for one count
 */
export async function countRows(
  session: QuerySession,
  tables: readonly CountedTable[],
  limit: number,
): Promise<ReadonlyMap<string, number>> {
  // With row security off the server reports an error instead of hiding rows.
  await session.query('SET row_security = off');
  const existing = new Set((await listTables(session)).map(({ name }) => name));
  const counts = new Map<string, number>();
  for (const { name, quoted } of tables.filter((table) => existing.has(table.name))) {
    const rows = await session.query(`SELECT count(*) AS rows FROM ONLY ${quoted}`, limit);
    counts.set(name, Number(rows.at(-1)?.[0]?.rows));
  }
  return counts;
}

/** The state of each sequence: `last_value`, with a dot if `is_called` is false. */
export async function readSequences(session: QuerySession): Promise<ReadonlyMap<string, string>> {
  const rows = await session.query(
    `SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE c.relkind = 'S' AND c.relpersistence <> 't' AND ${userRelations} ORDER BY 1, 2`,
  );
  const found = new Map<string, string>();
  for (const { nspname, relname } of rows.at(-1) ?? []) {
    const quoted = `${quoteIdentifier(nspname ?? '')}.${quoteIdentifier(relname ?? '')}`;
    const state = await session.query(`SELECT last_value, is_called FROM ${quoted}`);
    const row = state.at(-1)?.[0];
    found.set(`${nspname}.${relname}`, `${row?.last_value}${row?.is_called === 't' ? '' : '.'}`);
  }
  return found;
}
