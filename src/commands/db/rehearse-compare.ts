import type { EnginePorts } from '../../engine/job.ts';
import type { PostgresEntry } from '../../engine/journal.ts';
import { lookAtSource } from '../../engine/postgresql/look.ts';
import { watchName } from '../../engine/postgresql/names.ts';
import { patient, within } from '../../engine/postgresql/session.ts';
import { reasonOf } from '../../engine/words.ts';
import type { CopySession } from '../../postgresql/connection.ts';
import { quoteIdentifier } from '../../postgresql/quote.ts';
import type { PostgresSource } from '../../postgresql/source.ts';
import { firstOf } from '../../rehearsal/clearing.ts';
import { isOpen, judgeRound } from '../../rehearsal/compare.ts';
import { countRows, listTables, type Table } from '../../rehearsal/count.ts';
import type { TableCount } from '../../rehearsal/report.ts';
import type { Doors } from './rehearse-clean.ts';

export interface Comparing {
  readonly doors: Doors<PostgresSource>;
  readonly ports: EnginePorts;
  readonly signal: AbortSignal;
  /** Rounds, as long as the source is written to. */
  readonly tries: number;
  readonly patience: number;
  /** Waits until all that was written up to now has arrived; undefined: nothing more will come. */
  readonly slot: { readonly name: string; readonly version: number } | undefined;
}

export interface Compared {
  readonly tables: readonly TableCount[];
  /** What the source had written did not come. */
  readonly isBehind: boolean;
}

/** Exact counts on both sides, again where the source was written to in between. */
export async function compareRows({ doors, ports, signal, tries, patience, slot }: Comparing): Promise<Compared> {
  const opening = { name: watchName, signal };
  return within(doors.source, ports, opening, (source) =>
    within(doors.target, ports, opening, async (target) => {
      const all = await listTables(source);
      const carried = slot === undefined ? all : all.filter(({ isUnlogged }) => !isUnlogged);
      const found = new Map<string, TableCount>();
      let open: readonly Table[] = carried;
      let isBehind = false;
      for (let attempt = 0; attempt < tries && open.length > 0; attempt++) {
        if (attempt > 0) await ports.sleep(Math.min(1000, 100 * 2 ** attempt), signal);
        const before = await countRows(source, open, patient);
        isBehind = slot !== undefined && !(await arrives(source, slot, { ports, signal, patience }));
        const there = await countRows(target, open, patient);
        const after = await countRows(source, open, patient);
        const judged = judgeRound({ before, target: there, after });
        for (const one of judged) found.set(one.name, one);
        open = open.filter(({ name }) => judged.some((one) => one.name === name && isOpen(one)));
        if (isBehind) break;
      }
      const left = all.filter((table) => !carried.includes(table));
      for (const [name, rows] of await countRows(source, left, patient)) {
        found.set(name, { name, rows_source: rows, rows_target: 0, state: 'not_carried' });
      }
      return { tables: all.flatMap(({ name }) => found.get(name) ?? []), isBehind };
    }),
  );
}

/** Whether the subscription has taken all that was written up to now. */
async function arrives(
  session: CopySession,
  slot: { readonly name: string; readonly version: number },
  { ports, signal, patience }: Pick<Comparing, 'ports' | 'signal' | 'patience'>,
): Promise<boolean> {
  const end = firstOf(await session.query('SELECT pg_current_wal_lsn() AS lsn'))?.lsn ?? undefined;
  for (const limit = performance.now() + patience; performance.now() < limit; ) {
    const look = await lookAtSource(session, [slot.name], end, slot.version);
    if (look.slots.get(slot.name)?.caughtUp === true) return true;
    await ports.sleep(100, signal);
  }
  return false;
}

/** Copies one table as a worker does, into a transaction that is taken back: what the target says to it, or undefined. */
export async function whyNotCopied(
  entry: Pick<PostgresEntry, 'source' | 'target'>,
  table: Table,
  ports: EnginePorts,
  signal: AbortSignal,
): Promise<string | undefined> {
  const opening = { name: watchName, signal };
  try {
    return await within(entry.source, ports, opening, (from) =>
      within(entry.target, ports, opening, async (to) => {
        const columns = await columnsOf(from, table);
        await to.query("BEGIN; SET LOCAL session_replication_role = 'replica'");
        const sink = await to.copyIn(`COPY ${table.quoted} ${columns} FROM STDIN`);
        // The target may have refused already: then there is no use in sending the rest.
        await from.copyOut(`COPY ${table.quoted} ${columns} TO STDOUT`, (bytes) => sink.write(bytes));
        await sink.finish();
        await to.query('ROLLBACK');
        return undefined;
      }),
    );
  } catch (error) {
    return reasonOf(error, entry.source.password, entry.target.password);
  }
}

async function columnsOf(session: CopySession, { quoted }: Table): Promise<string> {
  const rows = await session.query(
    `SELECT a.attname FROM pg_attribute a WHERE a.attrelid = '${quoted.replaceAll("'", "''")}'::regclass AND a.attnum > 0
     AND NOT a.attisdropped AND coalesce(to_jsonb(a) ->> 'attgenerated', '') = '' ORDER BY a.attnum`,
  );
  const names = (rows.at(-1) ?? []).map(({ attname }) => quoteIdentifier(attname ?? ''));
  return names.length === 0 ? '' : `(${names.join(', ')})`;
}
