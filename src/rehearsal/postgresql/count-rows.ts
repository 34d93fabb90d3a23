import type { PostgresqlSession } from '../../postgresql/connection.ts';
import { quoteIdentifier } from '../../postgresql/quote.ts';

type QuerySession = Pick<PostgresqlSession, 'query'>;

export interface CountedTable {
  /** `schema.table` as the server holds both names. */
  readonly name: string;
  readonly quoted: string;
  /** Unlogged: replication leaves it out. */
  readonly isUnlogged: boolean;
}

/** What people made; tables of extensions come with the extension. */
const userRelations = `n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
  AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')`;

/** Every table that holds rows itself. */
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
 * Exact rows by name; a table that is not there is left out.
 * @param limit milliseconds a count may take
 */
export async function countRows(
  session: QuerySession,
  tables: readonly CountedTable[],
  limit: number,
): Promise<ReadonlyMap<string, number>> {
  // Rows that a policy hides are rows: without it the server refuses to count them.
  await session.query('SET row_security = off');
  const there = new Set((await listTables(session)).map(({ name }) => name));
  const counts = new Map<string, number>();
  for (const { name, quoted } of tables.filter((table) => there.has(table.name))) {
    const rows = await session.query(`SELECT count(*) AS rows FROM ONLY ${quoted}`, limit);
    counts.set(name, Number(rows.at(-1)?.[0]?.rows));
  }
  return counts;
}

/** Where each sequence stands: its last value, with a dot behind when it was not given out yet. */
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
