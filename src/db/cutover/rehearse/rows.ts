import { sanitizeReportLine } from '../../../base/sanitize.ts';
import { countOf, formatBytes, formatDuration } from '../../../base/text.ts';
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
import type { TableComparison, Wait } from './report.ts';

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
  readonly onWait: (wait: Wait) => void;
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
  onWait,
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
        waitUntilReplicated: () => waitUntilReplicated(source, slot, { ports, signal, stallTimeout, onWait }),
        onRound: (round, open) => onWait(comparisonWait(endpoints.source.dbname, { round, maxRounds, open })),
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
  {
    ports,
    signal,
    stallTimeout,
    onWait,
  }: Pick<CompareRehearsalRowsOptions, 'ports' | 'signal' | 'stallTimeout' | 'onWait'>,
): Promise<string | undefined> {
  if (slot === undefined) return undefined;
  const end = firstRow(await session.query('SELECT pg_current_wal_lsn() AS lsn'))?.lsn ?? undefined;
  const startedAt = performance.now();
  while (performance.now() < startedAt + stallTimeout) {
    const look = await readSourceStatus(session, [slot.name], end, slot.version);
    const status = look.slots.get(slot.name);
    if (status?.caughtUp === true) return undefined;
    if (performance.now() - startedAt >= mentionedAfter)
      onWait({
        key: `confirming ${end}`,
        state: `comparing: waiting until the target has the changes before ${end}, ${formatBytes(status?.lagBytes ?? 0)} behind the source now`,
        ends: `ends when the target has confirmed them, or after ${formatDuration(stallTimeout)}`,
        isCopied: true,
      });
    await ports.sleep(100, signal);
  }
  return 'the target does not receive the changes of the source';
}

/** Milliseconds from which a wait for the target is mentioned. */
const mentionedAfter = 1000;

function comparisonWait(
  dbname: string,
  { round, maxRounds, open }: { readonly round: number; readonly maxRounds: number; readonly open: readonly string[] },
): Wait {
  const names = `${open.slice(0, 3).join(', ')}${open.length > 3 ? ` and ${open.length - 3} more` : ''}`;
  const tables = countOf(open.length, 'table');
  return {
    key: `comparing ${dbname} ${round}`,
    state:
      round === 1
        ? `comparing the rows of ${tables} of ${dbname} on both servers`
        : `comparing again (${round} of at most ${maxRounds}) ${tables} of ${dbname}, not equal yet: ${sanitizeReportLine(names)}`,
    ends:
      round === 1
        ? 'ends when each was read; what is written to meanwhile is compared again'
        : 'ends when they are equal, or after the last comparison; a pause of the writes ends it sooner',
    isCopied: true,
  };
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
