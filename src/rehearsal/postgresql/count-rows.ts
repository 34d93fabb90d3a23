import type { PinnedSession } from '../../postgresql/pinned-session.ts';
import type { PostgresqlRow } from '../../postgresql/postgresql-row.ts';
import { QueryError } from '../../postgresql/query-error.ts';
import { quoteIdentifier } from '../../postgresql/quote.ts';
import { decodeSequenceState, sequenceStateColumns } from '../../postgresql/sequence-state.ts';
import { createTableDigest, type TableContent } from '../../postgresql/table-digest.ts';
import { copyTableStatements, isCopiedColumnSql, type PlainTable, readRows } from '../../postgresql/table-rows.ts';

type QuerySession = Pick<PinnedSession, 'query'>;

export interface CountedTable {
  /** `schema.table`, unquoted. */
  readonly name: string;
  readonly quoted: string;
  readonly table: PlainTable;
  /** Replication skips unlogged tables. */
  readonly isUnlogged: boolean;
}

/** Relations of users; tables of an extension are created with it. */
const userRelations = `n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
  AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')`;

/** Every table that stores rows, with the columns that a migration copies. */
export async function listTables(session: QuerySession): Promise<readonly CountedTable[]> {
  const rows = await queryRows(
    session,
    `SELECT n.nspname, c.relname, c.relpersistence, a.attname
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND ${isCopiedColumnSql(await readVersion(session))}
     WHERE c.relkind = 'r' AND c.relpersistence <> 't' AND ${userRelations} ORDER BY 1, 2, a.attnum`,
  );
  const tables = new Map<string, CountedTable>();
  for (const { nspname, relname, relpersistence, attname } of rows) {
    const [schema, table] = [nspname ?? '', relname ?? ''];
    const quoted = `${quoteIdentifier(schema)}.${quoteIdentifier(table)}`;
    const columns = [...(tables.get(quoted)?.table.columns ?? []), ...(attname == null ? [] : [attname])];
    tables.set(quoted, {
      name: `${schema}.${table}`,
      quoted,
      table: { schema, name: table, columns },
      isUnlogged: relpersistence === 'u',
    });
  }
  return [...tables.values()];
}

export interface ReadContentOptions {
  /** Milliseconds for one table. */
  readonly limit: number;
  /** server_version_num of the older one of the servers that are compared. */
  readonly oldest: number;
}

/**
 * The content of each table by name, without tables that do not exist or lack a column. Read by COPY: planning a SELECT runs
 * functions of users.
 */
export async function readTableContents(
  session: PinnedSession,
  tables: readonly CountedTable[],
  { limit, oldest }: ReadContentOptions,
): Promise<ReadonlyMap<string, TableContent>> {
  const version = await readVersion(session);
  const contents = new Map<string, TableContent>();
  for (const { name, table } of tables) {
    const statements = ['BEGIN READ ONLY', ...textFormat(oldest), ...copyTableStatements(table, version), 'COMMIT'];
    const digest = createTableDigest();
    const visit = (row: Uint8Array) => {
      digest.add(row);
      return false;
    };
    try {
      const limits = { time: limit, bytes: Number.POSITIVE_INFINITY, messages: 'parts' } as const;
      const end = await readRows(session, statements.join('; '), visit, limits);
      if (end !== 'complete')
        throw new QueryError('ETIMEDOUT', `the rows of ${name} were not read within ${limit / 1000} s`, true);
      contents.set(name, digest.content());
    } catch (error) {
      if (!(error instanceof QueryError) || error.lost || !missingCodes.has(error.code)) throw error;
      await session.query('ROLLBACK');
    }
  }
  return contents;
}

/** undefined_table, undefined_column, invalid_schema_name, wrong_object_type. */
const missingCodes: ReadonlySet<string> = new Set(['42P01', '42703', '3F000', '42809']);

/** Two servers write equal values as equal texts. Before PostgreSQL 12 a float has other digits, except the first 15. */
function textFormat(oldest: number): readonly string[] {
  return [
    "SET LOCAL timezone = 'UTC'",
    "SET LOCAL lc_monetary = 'C'",
    `SET LOCAL extra_float_digits = ${oldest < 120_000 ? 0 : 3}`,
  ];
}

/**
 * The state of each sequence: `last_value`, with a dot if `is_called` is false; null when it is not known, because the sequence
 * was not used yet (before PostgreSQL 18) or cannot be read.
 */
export async function readSequences(session: QuerySession): Promise<ReadonlyMap<string, string | null>> {
  const rows = await queryRows(
    session,
    `SELECT n.nspname, c.relname, ${sequenceStateColumns(await readVersion(session))}
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE c.relkind = 'S' AND c.relpersistence <> 't' AND ${userRelations} ORDER BY 1, 2`,
  );
  return new Map(rows.map((row) => [`${row.nspname}.${row.relname}`, sequenceText(row)]));
}

function sequenceText(row: PostgresqlRow): string | null {
  const state = decodeSequenceState(row);
  return state === undefined || state === 'not used' ? null : `${state.value}${state.called ? '' : '.'}`;
}

/** server_version_num. */
export async function readVersion(session: QuerySession): Promise<number> {
  return Number((await queryRows(session, 'SHOW server_version_num'))[0]?.server_version_num);
}

async function queryRows(session: QuerySession, text: string): Promise<readonly PostgresqlRow[]> {
  return (await session.query(text)).at(-1) ?? [];
}
