import { randomInt } from 'node:crypto';
import type { Clock } from '../../../../platform/host.ts';
import { ConnectError } from '../../../../platform/network-errors.ts';
import { timeoutSignal } from '../../../../platform/waiting.ts';
import { connectPostgresql, type PostgresqlSession } from '../../../../postgresql/connection.ts';
import { QueryError } from '../../../../postgresql/query-error.ts';
import { comparableTextSettings, type ReadOptions, readByCopy } from '../../../../postgresql/table-rows.ts';
import type { CheckFinding } from '../../finding.ts';
import type { DeepOptions } from '../../options.ts';
import { type QueryResults, queryValue } from '../../query.ts';
import type { DeepProgress, PreflightRun } from '../../run.ts';
import { evaluateDatabaseChecks, type PostgresqlCheck } from '../check.ts';
import type { PostgresqlDatabase } from '../queries/cluster.ts';
import { foreignKeysQuery, type UniqueIndex, uniqueIndexesQuery } from '../queries/constraints.ts';
import { isRefused, malformedValuesQuery, type RefusedColumn, refusedNullsQuery } from '../queries/refused-values.ts';
import { type ScannedTable, scannedTablesQuery } from '../queries/tables.ts';
import { type DatabaseQueryOptions, isTransient, runInDatabase } from '../run-queries.ts';
import type { PostgresqlFacts } from '../source-facts.ts';
import { createKeyHashes } from './key-hashes.ts';
import {
  combineScans,
  type DatabaseScan,
  type DuplicateSearch,
  failedScan,
  findDuplicates,
  findOrphans,
  type KeyRereader,
  type OrphanSearch,
  type TableScan,
  uncheckedIndexes,
} from './results.ts';
import {
  byteClass,
  createFieldTester,
  createRowScanner,
  joinParts,
  planScan,
  type RowScanner,
  type RowStatistics,
  type ScannerOptions,
  type ScanPlan,
  type UnreadReason,
  unreadReason,
} from './rows.ts';

interface TableScanOptions extends Pick<ReadOptions, 'version' | 'pace' | 'onSend'> {
  /** The encoding that the rows must be valid in; undefined: they are not checked. */
  readonly encoding: string | undefined;
  /** Random numbers for the hashes of keys. */
  readonly seeds: readonly [number, number];
  /** Milliseconds. */
  readonly now: () => number;
  /** Columns of the table whose values are tested. */
  readonly tested: readonly RefusedColumn[];
}

type ReadingSession = Pick<PostgresqlSession, 'query' | 'copyOut' | 'end'>;

/**
 * Reads the rows of a table in one transaction. The columns of a key are read a second time only if another key has the
 * same hash. For a table that cannot be read, the result contains the reason. `isLost`: whether the session is closed.
 */
async function scanTable(
  session: ReadingSession,
  table: ScannedTable,
  plan: ScanPlan,
  options: TableScanOptions,
): Promise<{ readonly scan: TableScan; readonly isLost: boolean }> {
  const { version, pace, onSend, now, seeds, encoding } = options;
  const settings = settingsOfScan(version);
  let bytes = 0;
  let milliseconds = 0;
  let error: QueryError | undefined;
  const read = async (
    columns: readonly string[],
    scanned: Omit<ScannerOptions, 'seeds'>,
    asReceived: (add: RowScanner['add']) => RowScanner['add'] = (add) => add,
  ): Promise<RowStatistics> => {
    const scanner = createRowScanner({ ...scanned, seeds });
    const visit = asReceived(scanner.add);
    const began = now();
    try {
      error = await readByCopy(session, { schema: table.schema, name: table.name, columns }, visit, {
        ...{ version, settings },
        ...(pace === undefined ? {} : { pace }),
        ...(onSend === undefined ? {} : { onSend }),
      });
    } catch (failure) {
      if (!(failure instanceof QueryError)) throw failure;
      error = failure;
    }
    bytes += scanner.found.bytes;
    milliseconds = Math.max(milliseconds, now() - began);
    return scanner.found;
  };
  const hashes = plan.keys.map(() => createKeyHashes(keyMemory / plan.keys.length));
  const { keyColumns, keys } = plan;
  const tests = options.tested.map((column) => ({
    column,
    position: plan.columns.indexOf(column.rawColumn),
    isFound: (field: string | null) => isRefused(field, column),
  }));
  const tester = createFieldTester(tests);
  const found = await read(
    plan.columns,
    { ...{ keyColumns, keys, encoding }, onKey: (key, high, low) => hashes[key]!.add(high, low) },
    (add) => (part) => {
      add(part);
      if (tests.length > 0) tester.add(part);
    },
  );
  const isRead = error === undefined;
  const readKeys: KeyRereader = async (onKey) => {
    await read(plan.columns.slice(0, keyColumns), { keyColumns, keys, onKey }, joinParts);
    return error === undefined;
  };
  const compared: DuplicateSearch =
    error === undefined
      ? await findDuplicates(table.table, keys, hashes, readKeys)
      : { duplicates: [], unchecked: uncheckedIndexes(table.table, keys, 'table_not_read') };
  return {
    isLost: error?.lost === true,
    scan: {
      table: table.table,
      rows: found.rows,
      longestRow: found.longestRow,
      bytes,
      milliseconds,
      unread: unreadTable(table, error),
      invalid: [...found.invalid].map(([column, rows]) => ({
        table: table.table,
        column: plan.columns[column] ?? '',
        rows,
      })),
      tested: tests.flatMap((test) => {
        const result = tester.result(test);
        return result === undefined || !(isRead || result) ? [] : [{ column: test.column, isRefused: result }];
      }),
      comparedKeys: keys.length - compared.unchecked.length,
      duplicates: compared.duplicates,
      unchecked: [...plan.unchecked, ...compared.unchecked],
    },
  };
}

/** Reads the given columns of a table, whose hashes `onKey` receives. Resolves with the error of a table that cannot be read. */
async function readKeyHashes(
  session: ReadingSession,
  { schema, name }: ScannedTable,
  columns: readonly string[],
  onKey: (high: number, low: number) => void,
  { version, pace, onSend, seeds }: TableScanOptions,
): Promise<QueryError | undefined> {
  const scanner = createRowScanner({
    ...{ seeds, keyColumns: columns.length, keys: [{ columns: columns.map((_, at) => at), nullsEqual: false }] },
    onKey: (_key, high, low) => onKey(high, low),
  });
  try {
    return await readByCopy(session, { schema, name, columns }, joinParts(scanner.add), {
      ...{ version, settings: settingsOfScan(version) },
      ...(pace === undefined ? {} : { pace }),
      ...(onSend === undefined ? {} : { onSend }),
    });
  } catch (failure) {
    if (failure instanceof QueryError) return failure;
    throw failure;
  }
}

/** If client_encoding is SQL_ASCII, the server converts no text, so the bytes arrive as they are stored. */
function settingsOfScan(version: number): Readonly<Record<string, string>> {
  return { ...comparableTextSettings(version, version), client_encoding: 'SQL_ASCII', lock_timeout: '5s' };
}

/** Bytes of memory for comparing the unique keys of one table. */
const keyMemory = 256 * 2 ** 20;

function unreadTable(table: ScannedTable, error: QueryError | undefined): TableScan['unread'] {
  if (error === undefined) return undefined;
  return { table: table.table, reason: unreadReason(error, table), message: error.message };
}

interface DatabaseScanOptions extends Pick<TableScanOptions, 'seeds' | 'pace' | 'now'> {
  /** Aborting the member `signal` ends the reading. */
  readonly query: DatabaseQueryOptions;
  /** Called before a table is read; `position` begins with 1. */
  readonly onTable: (table: string, position: number, total: number) => void;
}

/**
 * Reads every table of a database, one after the other. Tables that cannot be read are listed in the result with the
 * reason.
 */
async function scanDatabase(dbname: string, encoding: string, options: DatabaseScanOptions): Promise<DatabaseScan> {
  const { access, results } = await runInDatabase(
    dbname,
    [scannedTablesQuery, uniqueIndexesQuery, foreignKeysQuery, refusedNullsQuery, malformedValuesQuery],
    options.query,
  );
  const tables = queryValue(results, scannedTablesQuery);
  const indexes = queryValue(results, uniqueIndexesQuery);
  if (tables === undefined || indexes === undefined) {
    const result = [scannedTablesQuery, uniqueIndexesQuery].map((query) => results.get(query));
    const reason = result.flatMap((one) => (one !== undefined && 'reason' in one ? [one.reason] : []))[0];
    return failedScan(encoding, reason ?? ('message' in access ? access.message : 'the server returned no result'));
  }
  const indexesOf = new Map<number, UniqueIndex[]>();
  for (const index of indexes) indexesOf.set(index.table, [...(indexesOf.get(index.table) ?? []), index]);
  const refusable = [refusedNullsQuery, malformedValuesQuery].flatMap((query) => queryValue(results, query) ?? []);
  const foreignKeys = queryValue(results, foreignKeysQuery) ?? [];
  let orphans: OrphanSearch | undefined;
  const scans: TableScan[] = [];
  const connection = createConnection(dbname, options.query);
  try {
    for (const [at, table] of tables.entries()) {
      const plan = planScan(table, indexesOf.get(table.oid) ?? []);
      options.onTable(table.table, at + 1, tables.length);
      const session = await connection.open();
      if (session instanceof ConnectError) {
        const { aborted } = options.query.signal;
        scans.push(unreadScan(table, plan, aborted ? 'time_limit' : 'no_connection', session.message));
        continue;
      }
      const { scan, isLost } = await scanTable(session, table, plan, {
        ...tableOptions(dbname, encoding, options),
        tested: refusable.filter((one) => one.table === table.table),
      });
      scans.push(scan);
      if (isLost) await connection.close();
    }
    const scanOptions = tableOptions(dbname, encoding, options);
    orphans = await findOrphans(foreignKeys, tables, async (table, columns, onKey) => {
      const session = await connection.open();
      if (session instanceof ConnectError) return false;
      const error = await readKeyHashes(session, table, columns, onKey, scanOptions);
      if (error?.lost === true) await connection.close();
      return error === undefined;
    });
  } finally {
    await connection.close();
  }
  return combineScans(encoding, scans, orphans);
}

function tableOptions(
  dbname: string,
  encoding: string,
  { query, seeds, pace, now }: DatabaseScanOptions,
): TableScanOptions {
  return {
    version: query.version,
    seeds,
    now,
    tested: [],
    onSend: (text) => query.onSend(dbname, text),
    // A database with SQL_ASCII accepts any bytes, but a target with another encoding may reject them, so its rows are
    // checked as UTF-8.
    encoding: encoding === 'SQL_ASCII' ? 'UTF8' : byteClass(encoding) === 'multibyte' ? encoding : undefined,
    ...(pace === undefined ? {} : { pace }),
  };
}

function unreadScan(
  { table }: ScannedTable,
  { unchecked, keys }: ReturnType<typeof planScan>,
  reason: UnreadReason,
  message: string,
): TableScan {
  return {
    ...{ table, rows: 0, bytes: 0, longestRow: 0, milliseconds: 0, invalid: [], comparedKeys: 0, duplicates: [] },
    tested: [],
    unread: { table, reason, message },
    unchecked: [...unchecked, ...uncheckedIndexes(table, keys, 'table_not_read')],
  };
}

interface ScanConnection {
  /** The open session, or why there is none. */
  open(): Promise<PostgresqlSession | ConnectError>;
  close(): Promise<void>;
}

/**
 * Connects when a table is to be read, and again after a connection was lost. Once the server could not be reached, every
 * further call returns the same error.
 */
function createConnection(dbname: string, { source, clock, signal, memory }: DatabaseQueryOptions): ScanConnection {
  let session: PostgresqlSession | undefined;
  let failure: ConnectError | undefined;
  const connect = async (triesLeft: number): Promise<PostgresqlSession | ConnectError> => {
    try {
      return await connectPostgresql(source, { dbname, limit: connectTimeout, signal, memory });
    } catch (error) {
      if (!(error instanceof ConnectError)) throw error;
      if (!isTransient(error.code) || triesLeft === 0 || signal.aborted) return error;
      await clock.sleep(1000, signal).catch(() => {});
      return connect(triesLeft - 1);
    }
  };
  return {
    async open() {
      if (session !== undefined) return session;
      if (failure !== undefined) return failure;
      // Tries to connect for about 10 s, because a server that crashed or was restarted needs some seconds until it
      // accepts connections.
      const opened = await connect(10);
      if (opened instanceof ConnectError) failure = opened;
      else session = opened;
      return opened;
    },
    async close() {
      const open = session;
      session = undefined;
      await open?.end();
    },
  };
}

const connectTimeout = 10_000;

export interface TablesScanOptions {
  readonly deep: DeepOptions;
  /**
   * These options leave out the member `signal`, because that signal is aborted at the deadline of the queries, and
   * rows may be read after it.
   */
  readonly query: Omit<DatabaseQueryOptions, 'signal'>;
  /** This signal is aborted when the user cancels. */
  readonly cancelled: AbortSignal | undefined;
  readonly onRead: (progress: DeepProgress) => void;
  /** Clock for the rate and the durations, which ignores changes of the system time (default: performance.now). */
  readonly monotonic?: Clock;
}

function monotonicClock({ sleep }: Clock): Clock {
  return { now: () => performance.now(), sleep };
}

/** Milliseconds between two reports of the progress. */
const reportInterval = 200;

/** Reads the rows of the databases, one table after the other. The rate limit applies to the sum of all tables. */
export async function scanTables(
  databases: readonly { readonly name: string; readonly encoding: string }[],
  { deep, query, cancelled, onRead, monotonic = monotonicClock(query.clock) }: TablesScanOptions,
): Promise<ReadonlyMap<string, DatabaseScan>> {
  const expired = deep.timeout === undefined ? [] : [timeoutSignal(deep.timeout)];
  const signal = AbortSignal.any([...expired, ...(cancelled === undefined ? [] : [cancelled])]);
  const limiter = createReadLimiter(deep.bytesPerSecond, monotonic, signal);
  const seeds = [randomInt(2 ** 32), randomInt(2 ** 32)] as const;
  const found = new Map<string, DatabaseScan>();
  let progress: DeepProgress = { bytes: 0, database: '', table: '', position: 0, tables: 0 };
  let reportedAt = Number.NEGATIVE_INFINITY;
  const pace = (bytes: number) => {
    progress = { ...progress, bytes: progress.bytes + bytes };
    const now = monotonic.now();
    if (now - reportedAt >= reportInterval) {
      reportedAt = now;
      onRead(progress);
    }
    return limiter.take(bytes);
  };
  for (const { name, encoding } of databases) {
    const scan = await scanDatabase(name, encoding, {
      ...{ query: { ...query, signal }, seeds, pace, now: monotonic.now },
      onTable(table, position, tables) {
        progress = { bytes: progress.bytes, database: name, table, position, tables };
        onRead(progress);
      },
    });
    found.set(name, scan);
  }
  return found;
}

/** Limits how many bytes per second all readers that share the limiter read together. */
interface ReadLimiter {
  /**
   * Counts bytes that were read. If they exceed the rate, returns a promise, and the reader must wait for it before it
   * reads more.
   */
  take(bytes: number): Promise<void> | undefined;
}

/**
 * Maximum number of milliseconds by which a reader may exceed the rate without waiting, because a shorter wait costs
 * more time than it is meant to add.
 */
const tolerance = 20;

/**
 * Only one timer runs at a time, however many rows arrive. The returned promises are rejected when the signal is
 * aborted.
 */
export function createReadLimiter(bytesPerSecond: number, clock: Clock, signal: AbortSignal): ReadLimiter {
  let due = 0;
  let waiting: Promise<void> | undefined;
  const wait = async () => {
    try {
      for (let left = due - clock.now(); left > 0; left = due - clock.now()) await clock.sleep(left, signal);
    } finally {
      waiting = undefined;
    }
  };
  return {
    take(bytes) {
      const now = clock.now();
      // A pause in which nothing was read does not allow a higher rate afterwards.
      due = Math.max(due, now) + (bytes / bytesPerSecond) * 1000;
      if (due - now > tolerance) waiting ??= wait();
      return waiting;
    },
  };
}

interface RowChecksOptions {
  readonly run: Pick<PreflightRun<unknown>, 'options' | 'cancelled' | 'onRead'>;
  readonly facts: PostgresqlFacts;
  readonly known: readonly PostgresqlDatabase[];
  readonly query: DatabaseQueryOptions;
  readonly checks: readonly PostgresqlCheck[];
  /**
   * The findings by database. After the rows were read, the findings of the checks that use rows replace the earlier
   * ones.
   */
  readonly findings: Map<string, readonly CheckFinding[]>;
}

/** The checks that are evaluated again after the rows were read. */
export function selectRowChecks(checks: readonly PostgresqlCheck[]): readonly PostgresqlCheck[] {
  return checks.filter((check) => check.scope === 'database' && check.readsRows === true);
}

/**
 * Reads the rows of the databases that were reached, and evaluates the checks of rows. Without `--deep` the function
 * does nothing.
 * @param results by database, for the checks of rows
 */
export async function scanAndEvaluate(
  results: ReadonlyMap<string, QueryResults>,
  { run, facts, known, query, checks, findings }: RowChecksOptions,
): Promise<PostgresqlFacts['scans']> {
  const { options, cancelled, onRead } = run;
  const { deep } = options;
  if (deep === undefined) return undefined;
  const reached = [...results.keys()].filter((name) => facts.access.get(name)?.kind === 'entered').sort();
  const databases = reached.map((name) => ({
    name,
    encoding: known.find((database) => database.name === name)?.encoding ?? '',
  }));
  const scans = await scanTables(databases, { deep, query, cancelled, onRead });
  for (const [name, own] of results) {
    const again = evaluateDatabaseChecks(selectRowChecks(checks), own, name, { ...facts, scans }, options);
    const byId = new Map(again.map((finding) => [finding.id, finding]));
    const before = findings.get(name) ?? [];
    findings.set(
      name,
      before.map((finding) => byId.get(finding.id) ?? finding),
    );
  }
  return scans;
}
