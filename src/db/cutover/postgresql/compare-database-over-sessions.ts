import { countOf } from '../../../base/text.ts';
import { quoteLiteral } from '../../../postgresql/quote.ts';
import { longTimeout } from '../../engine/tools.ts';
import { compareSequences, unreadableSequenceState } from '../compare-row-counts.ts';
import {
  buildDatabaseComparisonEntry,
  type DatabaseComparisonEntry,
  type DatabaseComparisonOptions,
} from '../comparison-report.ts';
import type { SequenceComparison, TableComparison } from '../rehearse/report.ts';
import { compareLargeObjects } from './compare-large-objects.ts';
import { compareTableDigests } from './compare-table-digests.ts';
import {
  listTablesWithCopiedColumns,
  queryCatalogRows,
  readGeneratedColumns,
  readSequenceStatesAsText,
  readTableContentDigests,
  type TableContentSession,
  type TableWithCopiedColumns,
} from './rehearsal-tables.ts';

interface DatabaseComparisonInput {
  readonly name: string;
  readonly source: TableContentSession;
  readonly target: TableContentSession;
  /** More sessions with each server, which read at the same time. */
  readonly more: Readonly<Record<'source' | 'target', readonly TableContentSession[]>>;
  /** server_version_num of the older one of the source and the target. */
  readonly oldest: number;
  readonly options: DatabaseComparisonOptions;
}

/** Compares the tables and sequences of one database on two open sessions. */
export async function compareDatabaseOverSessions(
  databases: DatabaseComparisonInput,
): Promise<DatabaseComparisonEntry> {
  const { name, source, target, more, oldest, options } = databases;
  const { clock, signal, maxRounds, isQuiet = false, isChosen = () => true } = options;
  const chosen = async (session: TableContentSession): Promise<readonly TableWithCopiedColumns[]> =>
    (await listTablesWithCopiedColumns(session)).filter((one) => isChosen(name, one.name));
  const targetTables = await chosen(target);
  const sourceTables = readGeneratedColumns(await chosen(source), targetTables);
  const sequences = await readSequenceStatesAsText(source);
  const { tables } = await compareTableDigests({
    ...{ source, target, more, oldest, maxRounds, isQuiet },
    tables: sourceTables,
    isConfirmed: false,
    watchWrites: () => watchWrites(source),
    waitUntilReplicated: () => waitForSlots(source, options),
    pause: (ms) => clock.sleep(ms, signal),
  });
  const named = new Map(sourceTables.map((one) => [one.name, one]));
  const targetNamed = new Map(targetTables.map((one) => [one.name, one]));
  const others = targetTables.filter((one) => !named.has(one.name));
  const targetOnly = await readTableContentDigests(target, others, {
    limit: longTimeout,
    oldest,
    onFailure: () => {},
  });
  const isRunning = await hasSubscriptionSlot(source);
  const objects = (await compareLargeObjects(source, target)).map(
    (one): TableComparison => (isRunning && one.state === 'differs' ? { ...one, ...leftToStop } : one),
  );
  const compared = compareAllSequences(
    sequences,
    await readSequenceStatesAsText(target),
    await readSequenceStatesAsText(source),
  );
  const open = compared.filter(({ state }) => state === 'differs').length;
  return buildDatabaseComparisonEntry({
    name,
    ...(isRunning ? { left_to_stop: await listLeftToStop(source, target, open, objects) } : {}),
    tables: [
      ...tables.map((one) => withTargetColumns(one, named.get(one.name), targetNamed.get(one.name))),
      ...objects,
      ...others.map(
        (one): TableComparison => ({
          name: one.name,
          rows_source: null,
          rows_target: targetOnly.get(one.name)?.rows ?? null,
          state: 'differs',
        }),
      ),
    ],
    sequences: compared,
    not_compared: await listNotCompared(source, oldest),
  });
}

/**
 * Only the columns of the source were read. Therefore a table is not equal if the target has more columns, or computes a generated
 * column that was not read in another way.
 */
function withTargetColumns(
  found: TableComparison,
  source: TableWithCopiedColumns | undefined,
  target: TableWithCopiedColumns | undefined,
): TableComparison {
  if (source === undefined) return found;
  if (source.isUnlogged && found.state === 'differs' && found.rows_target === 0)
    return { ...found, error: 'the table is unlogged, so its rows are not replicated' };
  // A table that one server refuses to show may be missing on the other.
  const there = new Set(columnsOf(target));
  const missing = columnsOf(source).filter((one) => !there.has(one));
  if (found.acceptable === true && (target === undefined || missing.length > 0)) {
    const { acceptable: _, ...rest } = found;
    const error = target === undefined ? 'the target has no such table' : `the target lacks ${missing.join(', ')}`;
    return { ...rest, state: 'differs', error };
  }
  if (target === undefined || (found.rows_target ?? 0) === 0) return found;
  if (found.state !== 'equal' && found.state !== 'partly_equal') return found;
  const known = new Set(columnsOf(source));
  const more = columnsOf(target).filter((name) => !known.has(name));
  if (more.length > 0)
    return { ...found, state: 'differs', error: `only the target has the columns ${more.join(', ')}` };
  const expressions = new Map(target.generated.map(({ name, expression }) => [name, expression]));
  const other = source.generated.filter(({ name, expression }) => expressions.get(name) !== expression);
  if (other.length === 0) return found;
  const columns = other.map(({ name }) => name).join(', ');
  return {
    ...found,
    state: 'not_comparable',
    error: `the target does not compute ${columns} like the source`,
    acceptable: true,
  };
}

function columnsOf(one: TableWithCopiedColumns | undefined): readonly string[] {
  if (one === undefined) return [];
  return [...one.table.columns, ...(one.table.generated ?? []), ...one.generated.map(({ name }) => name)];
}

function compareAllSequences(...[before, target, after]: Parameters<typeof compareSequences>) {
  const others = [...target].filter(([name]) => !before.has(name));
  return [
    ...compareSequences(before, target, after),
    ...others.map(([name, value]): SequenceComparison => {
      const target = value === unreadableSequenceState ? null : value;
      return { name, source: null, target, state: 'differs' };
    }),
  ];
}

/**
 * Every transaction that writes has an id: with no such transaction running, and an unchanged counter afterwards, nothing was written.
 */
async function watchWrites(source: TableContentSession): Promise<(() => Promise<boolean>) | undefined> {
  const read = async () =>
    (await queryCatalogRows(source, 'SELECT txid_current_snapshot()::text AS snapshot'))[0]?.snapshot ?? '';
  const before = await read();
  // The oldest running transaction, the next one, and those in between.
  return /^(\d+):\1:$/.test(before) ? async () => (await read()) === before : undefined;
}

/**
 * Waits until every replication slot of a subscription has confirmed the current position of the WAL. Resolves with the
 * reason why a slot has not confirmed the position; undefined after success.
 */
async function waitForSlots(
  source: TableContentSession,
  { catchUpTimeout, clock, signal }: DatabaseComparisonOptions,
): Promise<string | undefined> {
  const position = 'CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END';
  const [end] = await queryCatalogRows(source, `SELECT ${position}::text AS lsn`);
  if (end?.lsn == null) return undefined;
  for (const limit = performance.now() + catchUpTimeout; ; await clock.sleep(200, signal)) {
    const slots = await queryCatalogRows(
      source,
      `SELECT slot_name, active, pg_wal_lsn_diff(${quoteLiteral(end.lsn)}::pg_lsn, confirmed_flush_lsn) AS lag
       FROM pg_replication_slots WHERE database = current_database() AND plugin = 'pgoutput' AND NOT temporary
       AND confirmed_flush_lsn < ${quoteLiteral(end.lsn)}::pg_lsn ORDER BY active, slot_name`,
    );
    const [slot] = slots;
    if (slot === undefined) return undefined;
    if (slot.active !== 't' || performance.now() >= limit)
      return `the replication slot ${slot.slot_name} is ${slot.lag} bytes behind${slot.active === 't' ? '' : ', and no server reads it'}`;
  }
}

const leftToStop = { state: 'not_comparable', error: 'the stop of the migration copies them' } as const;

/** Whether a migration of this database runs: it reads a slot of the source. */
async function hasSubscriptionSlot(source: TableContentSession): Promise<boolean> {
  const slots = "database = current_database() AND plugin = 'pgoutput' AND NOT temporary";
  const [row] = await queryCatalogRows(source, `SELECT count(*) AS slots FROM pg_replication_slots WHERE ${slots}`);
  return row?.slots !== '0';
}

/** Replication carries rows of logged tables; the rest is copied when the migration is stopped. */
async function listLeftToStop(
  source: TableContentSession,
  target: TableContentSession,
  sequences: number,
  objects: readonly TableComparison[],
): Promise<readonly string[]> {
  const populated = async (session: TableContentSession) =>
    (
      await queryCatalogRows(
        session,
        `SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
         WHERE c.relkind = 'm' AND c.relispopulated`,
      )
    ).map(({ nspname, relname }) => `${nspname}.${relname}`);
  const there = new Set(await populated(target));
  const views = (await populated(source)).filter((one) => !there.has(one)).length;
  const [large] = objects.filter(({ state }) => state !== 'equal');
  return [
    ...(sequences === 0 ? [] : [`the values of ${countOf(sequences, 'sequence')}`]),
    ...(views === 0 ? [] : [`the rows of ${countOf(views, 'materialized view')}`]),
    ...(large === undefined ? [] : [countOf(large.rows_source ?? 0, 'large object')]),
  ];
}

/** Kinds of source data that COPY cannot read, or that a migration does not copy. */
async function listNotCompared(source: TableContentSession, oldest: number): Promise<readonly string[]> {
  const [row] = await queryCatalogRows(
    source,
    `SELECT (SELECT count(*) FROM pg_class WHERE relkind = 'm') AS views, (SELECT count(*) FROM pg_class WHERE relkind = 'f') AS foreign_tables,
       (SELECT count(*) FROM pg_class c WHERE c.relkind = 'r' AND c.relpersistence <> 't' AND EXISTS (SELECT 1 FROM pg_depend d
         WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')) AS extension_tables,
       (SELECT count(*) FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid WHERE c.relkind = 'r' AND a.attnum > 0
         AND NOT a.attisdropped AND a.atttypid IN ('float4'::regtype, 'float8'::regtype, '_float4'::regtype, '_float8'::regtype)
         AND c.oid >= 16384) AS floats`,
  );
  const list = (count: string | null | undefined, one: string, many: string) =>
    count == null || count === '0' ? [] : [count === '1' ? `1 ${one}` : `${count} ${many}`];
  return [
    ...list(row?.views, 'materialized view', 'materialized views'),
    ...list(row?.foreign_tables, 'foreign table', 'foreign tables'),
    ...list(row?.extension_tables, 'table of an extension', 'tables of extensions'),
    ...(oldest >= 120_000 || row?.floats == null || row.floats === '0'
      ? []
      : [
          'digits of floating-point numbers after the 15th (6th for float4), because a server is older than PostgreSQL 12',
        ]),
  ];
}
