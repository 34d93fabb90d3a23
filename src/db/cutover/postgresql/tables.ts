import { firstNormalOid } from '../../../postgresql/catalog-oids.ts';
import type { PostgresqlSession } from '../../../postgresql/connection.ts';
import { QueryError } from '../../../postgresql/query-error.ts';
import { quoteIdentifier } from '../../../postgresql/quote.ts';
import type { PostgresqlRow } from '../../../postgresql/rows.ts';
import {
  omitControlResults,
  readOnlySql,
  rollbackSql,
  type TransactionSettings,
} from '../../../postgresql/search-path-safe-sql.ts';
import { decodeSequenceState, sequenceStateColumns } from '../../../postgresql/sequence-state.ts';
import {
  comparableTextSettings,
  copyTransaction,
  createDigestBuilder,
  isCopiedSql,
  isPlanSafeSql,
  missingTableCodes,
  type OrdinaryTable,
  readByCopy,
  readRows,
  type TableDigest,
} from '../../../postgresql/table-rows.ts';
import { unreadableSequenceState } from '../comparison.ts';

type QuerySession = Pick<PostgresqlSession, 'query'>;

/** A session that reads tables. Every message of the session is one read-only transaction. */
export type TableContentSession = Pick<PostgresqlSession, 'query' | 'copyOut' | 'end'>;

export interface TableWithCopiedColumns {
  /** The name as `schema.table`; quoted if schema or table contains a dot, so that no two tables have the same name. */
  readonly name: string;
  readonly quoted: string;
  readonly table: OrdinaryTable;
  /** Whether the table is known to have few rows. */
  readonly isSmall: boolean;
  /** Whether the table is unlogged, and so is not replicated. */
  readonly isUnlogged: boolean;
  readonly generated: readonly UncopiedGeneratedColumn[];
  /** Whether a query of the table runs no code of users. */
  readonly canQuery: boolean;
}

/** A generated column. COPY of a table cannot read a generated column, and planning a SELECT may run functions of users. */
interface UncopiedGeneratedColumn {
  readonly name: string;
  /**
   * Whether the expression of the column calls functions that are not built in. Such functions can return other values on
   * the target, even if the rows are equal.
   */
  readonly callsUserCode: boolean;
  /** Whether reading the column computes nothing. */
  readonly isStored: boolean;
  /** The expression as SQL text. */
  readonly expression: string;
}

/** Relations of users, without tables of extensions, which CREATE EXTENSION creates. */
const userRelations = `n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
  AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')`;

/** Lists every table that stores rows, with the columns that a migration copies. */
export async function listTablesWithCopiedColumns(session: QuerySession): Promise<readonly TableWithCopiedColumns[]> {
  const version = await readPostgresqlServerVersion(session);
  const rows = await queryCatalogRows(
    session,
    `SELECT n.nspname, c.relname, c.relpersistence, a.attname, ${generatedColumnSql(version)},
       ${version < 120_000 ? 'false' : isPlanSafeSql} AS can_query,
       c.relpages <= 64 AND greatest(c.reltuples, pg_stat_get_live_tuples(c.oid)) < 1000 AS small
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
     WHERE c.relkind = 'r' AND c.relpersistence <> 't' AND ${userRelations} ORDER BY 1, 2, a.attnum`,
  );
  const tables = new Map<
    string,
    TableWithCopiedColumns & { readonly columns: string[]; readonly generated: UncopiedGeneratedColumn[] }
  >();
  for (const {
    nspname,
    relname,
    relpersistence,
    attname,
    copied,
    user_code,
    stored,
    can_query,
    small,
    expression,
  } of rows) {
    const [schema, table] = [nspname ?? '', relname ?? ''];
    const quoted = `${quoteIdentifier(schema)}.${quoteIdentifier(table)}`;
    const columns: string[] = [];
    const one = tables.get(quoted) ?? {
      name: uniqueName(schema, table),
      quoted,
      table: { schema, name: table, columns },
      isSmall: small === 't',
      isUnlogged: relpersistence === 'u',
      columns,
      generated: [],
      canQuery: can_query === 't',
    };
    tables.set(quoted, one);
    if (attname == null) continue;
    if (copied === 't') one.columns.push(attname);
    else {
      const column = { name: attname, callsUserCode: user_code === 't', isStored: stored === 't' };
      one.generated.push({ ...column, expression: expression ?? '' });
    }
  }
  return [...tables.values()].map(({ columns: _, ...table }) => table);
}

/**
 * SQL: columns `copied`, `user_code`, `stored` and `expression` of the column `a` (pg_attribute). pg_depend contains no dependency on built-in
 * functions; before PostgreSQL 15 it records the functions of a generated column for the column, not for its
 * expression.
 */
function generatedColumnSql(version: number): string {
  if (version < 120_000) return 'true AS copied, false AS user_code, false AS stored, NULL AS expression';
  return `${isCopiedSql(version)} AS copied, a.attgenerated <> '' AND EXISTS (
       SELECT 1 FROM pg_depend p LEFT JOIN pg_attrdef e ON e.adrelid = a.attrelid AND e.adnum = a.attnum
       WHERE (p.classid = 'pg_attrdef'::regclass AND p.objid = e.oid
         OR p.classid = 'pg_class'::regclass AND p.objid = a.attrelid AND p.objsubid = a.attnum)
       AND p.refclassid IN ('pg_proc'::regclass, 'pg_operator'::regclass)
       AND p.refobjid >= ${firstNormalOid}) AS user_code,
     a.attgenerated = 's' AS stored,
     (SELECT pg_get_expr(e.adbin, e.adrelid) FROM pg_attrdef e
       WHERE e.adrelid = a.attrelid AND e.adnum = a.attnum AND a.attgenerated <> '') AS expression`;
}

/** Of the tables of the source, those generated columns are read that can be read on both servers without code of users. */
export function readGeneratedColumns(
  tables: readonly TableWithCopiedColumns[],
  others: readonly TableWithCopiedColumns[],
): readonly TableWithCopiedColumns[] {
  const named = new Map(others.map((one) => [one.name, one]));
  return tables.map((one) => {
    const there = named.get(one.name);
    if (there === undefined || !one.canQuery || !there.canQuery) return one;
    const known = new Set([
      ...there.table.columns,
      ...there.generated.filter(({ isStored }) => isStored).map(({ name }) => name),
    ]);
    const read = one.generated.filter(({ name, isStored }) => isStored && known.has(name));
    const table = { ...one.table, generated: read.map(({ name }) => name) };
    return { ...one, table, generated: one.generated.filter((column) => !read.includes(column)) };
  });
}

interface ReadTableContentDigestsOptions {
  /** Time limit in milliseconds for reading one table. */
  readonly limit: number;
  /** server_version_num of the older of the compared servers. */
  readonly oldest: number;
  /** Called for a table that exists but cannot be read. */
  readonly onFailure: (name: string, error: QueryError) => void;
  /** More sessions with the same server and database, which read at the same time. */
  readonly more?: readonly TableContentSession[];
}

/**
 * Digests of the content of each table, by table name, without tables that do not exist, lack a column, or cannot be
 * read. Tables are read with COPY, because planning a SELECT runs functions of users.
 */
export async function readTableContentDigests(
  session: TableContentSession,
  tables: readonly TableWithCopiedColumns[],
  { limit, oldest, onFailure, more = [] }: ReadTableContentDigestsOptions,
): Promise<ReadonlyMap<string, TableDigest>> {
  const version = await readPostgresqlServerVersion(session);
  const contents = new Map<string, TableDigest>();
  const settings = comparableTextSettings(version, oldest);
  const batches = batchesOf(tables).values();
  const readBatches = async (own: TableContentSession) => {
    for (const batch of batches) {
      if (batch.length > 1 && (await readBatch(own, batch, { version, settings, limit, contents }))) continue;
      for (const { name, table } of batch) {
        const digest = createDigestBuilder();
        const error = await readByCopy(own, table, digest.add, { version, settings, time: limit });
        if (error === undefined) contents.set(name, digest.content());
        else if (!missingTableCodes.has(error.code)) onFailure(name, error);
      }
    }
  };
  await Promise.all([session, ...more].map(readBatches));
  return contents;
}

/** Tables that one message reads. Large ones come first, so that no session reads the last one alone. */
function batchesOf(tables: readonly TableWithCopiedColumns[]): readonly (readonly TableWithCopiedColumns[])[] {
  const isShort = ({ isSmall, table }: TableWithCopiedColumns) => isSmall && (table.generated ?? []).length === 0;
  const short = tables.filter(isShort);
  const batches = tables.filter((one) => !isShort(one)).map((one) => [one]);
  for (let at = 0; at < short.length; at += batchSize) batches.push(short.slice(at, at + batchSize));
  return batches;
}

/** The answer of a message then fits into one buffer of the server (8 KiB) for most small tables; a larger one takes a pause. */
const batchSize = 20;

/**
 * Reads small tables in one transaction, which saves most of their time. Whether it succeeded: it does not wait for locks, because a
 * wait with the locks of other tables could end in a deadlock with an application.
 */
async function readBatch(
  session: TableContentSession,
  batch: readonly TableWithCopiedColumns[],
  {
    version,
    settings,
    limit,
    contents,
  }: {
    readonly version: number;
    readonly settings: TransactionSettings;
    readonly limit: number;
    readonly contents: Map<string, TableDigest>;
  },
): Promise<boolean> {
  const found: TableDigest[] = [];
  let digest = createDigestBuilder();
  const ended = () => {
    found.push(digest.content());
    digest = createDigestBuilder();
  };
  const [first, ...rest] = batch.map(({ table }) => copyTransaction(table, version));
  const copies = [...(first ?? []), ...rest.flatMap((statements) => statements.slice(-1))];
  const message = readOnlySql(copies, { ...settings, lock_timeout: '10ms' });
  const visit = (part: Uint8Array) => {
    digest.add(part);
    return false;
  };
  try {
    await readRows(session, message, visit, { time: limit, messages: 'parts', ended });
  } catch (error) {
    if (!(error instanceof QueryError) || error.lost) throw error;
    await session.query(rollbackSql);
    return false;
  }
  if (found.length !== batch.length) return false;
  for (const [index, { name }] of batch.entries()) {
    const one = found[index];
    if (one !== undefined) contents.set(name, one);
  }
  return true;
}

/**
 * The state of each sequence, as text: `last_value`, with a dot if `is_called` is false; null when it was not used yet
 * (before PostgreSQL 18); `unreadable` without a privilege on it.
 */
export async function readSequenceStatesAsText(session: QuerySession): Promise<ReadonlyMap<string, string | null>> {
  const rows = await queryCatalogRows(
    session,
    `SELECT n.nspname, c.relname, ${sequenceStateColumns(await readPostgresqlServerVersion(session))}
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE c.relkind = 'S' AND c.relpersistence <> 't' AND ${userRelations} ORDER BY 1, 2`,
  );
  return new Map(rows.map((row) => [uniqueName(row.nspname ?? '', row.relname ?? ''), sequenceText(row)]));
}

/** The names of sequences that only count up, so that a higher value was used later. */
export async function readAscendingSequences(session: QuerySession): Promise<ReadonlySet<string>> {
  const rows = await queryCatalogRows(
    session,
    `SELECT n.nspname, c.relname
     FROM pg_sequence s JOIN pg_class c ON c.oid = s.seqrelid JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE s.seqincrement > 0 AND NOT s.seqcycle AND ${userRelations}`,
  );
  return new Set(rows.map((row) => uniqueName(row.nspname ?? '', row.relname ?? '')));
}

function uniqueName(schema: string, name: string): string {
  const isPlain = !`${schema}${name}`.includes('.');
  return isPlain ? `${schema}.${name}` : `${quoteIdentifier(schema)}.${quoteIdentifier(name)}`;
}

function sequenceText(row: PostgresqlRow): string | null {
  const state = decodeSequenceState(row);
  if (state === undefined) return unreadableSequenceState;
  return state === 'not used' ? null : `${state.value}${state.called ? '' : '.'}`;
}

/** server_version_num. */
export async function readPostgresqlServerVersion(session: QuerySession): Promise<number> {
  return Number((await queryCatalogRows(session, 'SHOW server_version_num'))[0]?.server_version_num);
}

/** Returns the rows of a catalog query, which runs in its own transaction. */
export async function queryCatalogRows(session: QuerySession, text: string): Promise<readonly PostgresqlRow[]> {
  return omitControlResults(await session.query(readOnlySql([text])), 1)[0] ?? [];
}
