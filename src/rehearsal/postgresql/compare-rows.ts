import { redactedReason } from '../../engine/migration-error.ts';
import type { EngineDependencies } from '../../engine/migration-job.ts';
import type { PostgresJournalEntry } from '../../engine/migration-journal.ts';
import { migrationStatementTimeout, withEngineSession } from '../../engine/postgresql/engine-session.ts';
import { engineApplicationName } from '../../engine/postgresql/object-names.ts';
import { readSourceStatus } from '../../engine/postgresql/replication-status.ts';
import type { PinnedSession } from '../../postgresql/pinned-session.ts';
import { quoteIdentifier } from '../../postgresql/quote.ts';
import type { PostgresqlSource } from '../../postgresql/source.ts';
import { copyTableStatement } from '../../postgresql/table-rows.ts';
import type { TableCount } from '../rehearsal-report.ts';
import type { RehearsalEndpoints } from './clean-up.ts';
import { compareTables } from './compare-tables.ts';
import { type CountedTable, listTables, readTableContents, readVersion } from './count-rows.ts';
import { firstRowOf } from './drop-objects.ts';

export interface CompareRowsOptions {
  readonly endpoints: RehearsalEndpoints<PostgresqlSource>;
  readonly ports: EngineDependencies;
  readonly signal: AbortSignal;
  /** The maximum number of comparisons of a table while applications write to the source. */
  readonly maxRounds: number;
  readonly stallTimeout: number;
  /**
   * The replication slot that must confirm all changes before the rows of the target are counted; undefined after a
   * dump.
   */
  readonly slot: { readonly name: string; readonly version: number } | undefined;
}

export interface CompareRowsResult {
  readonly tables: readonly TableCount[];
  /** Whether the target did not receive all changes of the source. */
  readonly isBehind: boolean;
}

/** Compares the rows on both servers, and compares tables again that changed during the comparison. */
export async function compareRows({
  endpoints,
  ports,
  signal,
  maxRounds,
  stallTimeout,
  slot,
}: CompareRowsOptions): Promise<CompareRowsResult> {
  const opening = { name: engineApplicationName, signal };
  return withEngineSession(endpoints.source, ports, opening, (source) =>
    withEngineSession(endpoints.target, ports, opening, async (target) => {
      const all = await listTables(source);
      const oldest = Math.min(await readVersion(source), await readVersion(target));
      const carried = slot === undefined ? all : all.filter(({ isUnlogged }) => !isUnlogged);
      const { tables, behind } = await compareTables({
        source,
        target,
        tables: carried,
        oldest,
        maxRounds,
        waitUntilReplicated: () => waitUntilReplicated(source, slot, { ports, signal, stallTimeout }),
        pause: (ms) => ports.sleep(ms, signal),
      });
      const left = all.filter((table) => !carried.includes(table));
      const reading = { limit: migrationStatementTimeout, oldest, onFailure: () => {} };
      const rows = await readTableContents(source, left, reading);
      const notCarried = left.map(
        ({ name }): TableCount => ({
          ...{ name, rows_source: rows.get(name)?.rows ?? null, rows_target: 0, state: 'not_carried' },
        }),
      );
      const found = new Map([...tables, ...notCarried].map((one) => [one.name, one]));
      return { tables: all.flatMap(({ name }) => found.get(name) ?? []), isBehind: behind !== undefined };
    }),
  );
}

/**
 * Waits until the subscription has confirmed the current WAL position. After the stall timeout it resolves with the
 * reason why the position is not confirmed.
 */
async function waitUntilReplicated(
  session: PinnedSession,
  slot: CompareRowsOptions['slot'],
  { ports, signal, stallTimeout }: Pick<CompareRowsOptions, 'ports' | 'signal' | 'stallTimeout'>,
): Promise<string | undefined> {
  if (slot === undefined) return undefined;
  const end = firstRowOf(await session.query('SELECT pg_current_wal_lsn() AS lsn'))?.lsn ?? undefined;
  for (const limit = performance.now() + stallTimeout; performance.now() < limit; ) {
    const look = await readSourceStatus(session, [slot.name], end, slot.version);
    if (look.slots.get(slot.name)?.caughtUp === true) return undefined;
    await ports.sleep(100, signal);
  }
  return 'the target does not receive the changes of the source';
}

/**
 * Copies one table in the way of a replication worker, and rolls back. Resolves with the error of the copy, or
 * undefined if the copy succeeds.
 */
export async function findCopyError(
  entry: Pick<PostgresJournalEntry, 'source' | 'target'>,
  table: CountedTable,
  ports: EngineDependencies,
  signal: AbortSignal,
): Promise<string | undefined> {
  const opening = { name: engineApplicationName, signal };
  try {
    return await withEngineSession(entry.source, ports, opening, (from) =>
      withEngineSession(entry.target, ports, opening, async (to) => {
        const { columns } = table.table;
        const list = columns.length === 0 ? '' : `(${columns.map(quoteIdentifier).join(', ')})`;
        await to.query('BEGIN');
        // session_replication_role is set only if necessary, because the login of a migration has the setting already,
        // and may not change it.
        const [mode] = (await to.query('SHOW session_replication_role')).flat();
        if (mode?.session_replication_role !== 'replica')
          await to.query("SET LOCAL session_replication_role = 'replica'");
        const sink = await to.copyIn(`COPY ${table.quoted} ${list} FROM STDIN`);
        // After the target has rejected a row, writing fails, so the remaining rows are not sent.
        await from.copyOut(copyTableStatement(table.table), (bytes) => sink.write(bytes), 'parts');
        await sink.finish();
        await to.query('ROLLBACK');
        return undefined;
      }),
    );
  } catch (error) {
    return redactedReason(error, entry.source.password, entry.target.password);
  }
}
