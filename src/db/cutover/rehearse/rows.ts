import type { PostgresqlEndpoint } from '../../../postgresql/endpoint.ts';
import { quoteIdentifier } from '../../../postgresql/quote.ts';
import type { SafeSession } from '../../../postgresql/search-path-safe-session.ts';
import { copyStatement } from '../../../postgresql/table-rows.ts';
import type { EngineSystem, PostgresEntry } from '../../engine/index.ts';
import { engineName, longTimeout, readSourceStatus, redactReason, withSession } from '../../engine/tools.ts';
import { compareTableDigests } from '../postgresql/digests.ts';
import {
  listTablesWithCopiedColumns,
  readPostgresqlServerVersion,
  readTableContentDigests,
  type TableWithCopiedColumns,
} from '../postgresql/tables.ts';
import { firstRow, type RehearsalEndpoints } from './clean-up.ts';
import type { TableComparison } from './report.ts';

interface CompareRehearsalRowsOptions {
  readonly endpoints: RehearsalEndpoints<PostgresqlEndpoint>;
  readonly ports: EngineSystem;
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

interface CompareRehearsalRowsResult {
  readonly tables: readonly TableComparison[];
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
}: CompareRehearsalRowsOptions): Promise<CompareRehearsalRowsResult> {
  const opening = { name: engineName, signal };
  return withSession(endpoints.source, ports, opening, (source) =>
    withSession(endpoints.target, ports, opening, async (target) => {
      const all = await listTablesWithCopiedColumns(source);
      const oldest = Math.min(await readPostgresqlServerVersion(source), await readPostgresqlServerVersion(target));
      const carried = slot === undefined ? all : all.filter(({ isUnlogged }) => !isUnlogged);
      const { tables, behind } = await compareTableDigests({
        source,
        target,
        tables: carried,
        oldest,
        maxRounds,
        waitUntilReplicated: () => waitUntilReplicated(source, slot, { ports, signal, stallTimeout }),
        pause: (ms) => ports.sleep(ms, signal),
      });
      const left = all.filter((table) => !carried.includes(table));
      const reading = { limit: longTimeout, oldest, onFailure: () => {} };
      const rows = await readTableContentDigests(source, left, reading);
      const notCarried = left.map(
        ({ name }): TableComparison => ({
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
  session: SafeSession,
  slot: CompareRehearsalRowsOptions['slot'],
  { ports, signal, stallTimeout }: Pick<CompareRehearsalRowsOptions, 'ports' | 'signal' | 'stallTimeout'>,
): Promise<string | undefined> {
  if (slot === undefined) return undefined;
  const end = firstRow(await session.query('SELECT pg_current_wal_lsn() AS lsn'))?.lsn ?? undefined;
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
export async function tryTableCopy(
  entry: Pick<PostgresEntry, 'source' | 'target'>,
  table: TableWithCopiedColumns,
  ports: EngineSystem,
  signal: AbortSignal,
): Promise<string | undefined> {
  const opening = { name: engineName, signal };
  try {
    return await withSession(entry.source, ports, opening, (from) =>
      withSession(entry.target, ports, opening, async (to) => {
        const { columns } = table.table;
        const list = columns.length === 0 ? '' : `(${columns.map(quoteIdentifier).join(', ')})`;
        await to.query('BEGIN');
        // session_replication_role is set only if necessary: the target login of a migration already has this setting, and
        // may not have the right to set it.
        const [mode] = (await to.query('SHOW session_replication_role')).flat();
        if (mode?.session_replication_role !== 'replica')
          await to.query("SET LOCAL session_replication_role = 'replica'");
        const sink = await to.copyIn(`COPY ${table.quoted} ${list} FROM STDIN`);
        // After the target has rejected a row, writing fails, so the remaining rows are not sent.
        await from.copyOut(copyStatement(table.table), (bytes) => sink.write(bytes), 'parts');
        await sink.finish();
        await to.query('ROLLBACK');
        return undefined;
      }),
    );
  } catch (error) {
    return redactReason(error, entry.source.password, entry.target.password);
  }
}
