import type { CopySession } from '../../postgresql/connection.ts';
import { quoteIdentifier } from '../../postgresql/quote.ts';
import type { PostgresqlSource } from '../../postgresql/source.ts';
import type { EngineDependencies } from '../migration-job.ts';
import type { DatabaseProgress, TableProgress } from '../migration-state.ts';
import { queryLastRows, withEngineSession } from './engine-session.ts';
import { copyNonReplicatedData } from './non-replicated-data.ts';

export interface RowCopyOptions {
  readonly source: PostgresqlSource;
  readonly target: PostgresqlSource;
  readonly ports: EngineDependencies;
  readonly signal: AbortSignal;
  readonly name: string;
}

/** Copies the rows of one database as they were at one moment. Rejects when any table cannot be read or written. */
export async function copyDatabaseRows(
  { source, target, ports, signal, name }: RowCopyOptions,
  progress: DatabaseProgress,
): Promise<void> {
  const opening = { name, signal };
  progress.phase = 'copying';
  await withEngineSession(source, ports, opening, (from) =>
    withEngineSession(target, ports, opening, async (to) => {
      // Rows that a policy hides would be lost in silence: without it the server refuses to read such a table.
      await from.query('SET row_security = off');
      await from.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
      const tables = await listTablesToCopy(from);
      const rows = new Map(tables.map(({ shown }) => [shown, { name: shown, stage: 'i', rows: 0 } as TableProgress]));
      const show = (state: TableProgress) => {
        rows.set(state.name, state);
        progress.tables = [...rows.values()];
      };
      progress.tables = [...rows.values()];
      const silenced = await disableTriggers(to);
      for (const table of tables) await copyTable(from, to, table, show);
      for (const statement of silenced) await to.query(statement);
      progress.phase = 'finishing';
      progress.warnings.push(...(await copyNonReplicatedData(from, to)));
      await from.query('COMMIT');
    }),
  );
}

interface TableToCopy {
  readonly shown: string;
  readonly quoted: string;
  readonly columns: string;
}

/** A partitioned table has no rows of its own, and generated columns are made again. */
async function listTablesToCopy(session: CopySession): Promise<readonly TableToCopy[]> {
  const rows = await queryLastRows(
    session,
    `SELECT n.nspname, c.relname, a.attname, c.oid FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
       AND coalesce(to_jsonb(a) ->> 'attgenerated', '') = ''
     WHERE c.relkind = 'r' AND c.relpersistence <> 't' AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
     AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
     ORDER BY n.nspname, c.relname, c.oid, a.attnum`,
  );
  const tables = new Map<string, { readonly schema: string; readonly name: string; readonly columns: string[] }>();
  for (const { nspname, relname, attname, oid } of rows) {
    const table = tables.get(oid ?? '') ?? { schema: nspname ?? '', name: relname ?? '', columns: [] };
    if (attname != null) table.columns.push(quoteIdentifier(attname));
    tables.set(oid ?? '', table);
  }
  return [...tables.values()].map(({ schema, name, columns }) => ({
    shown: `${schema}.${name}`,
    quoted: `${quoteIdentifier(schema)}.${quoteIdentifier(name)}`,
    columns: columns.length === 0 ? '' : `(${columns.join(', ')})`,
  }));
}

/** Resolves with the statements that wake up what was silenced. As replication does: no trigger fires, and foreign keys hold in the end without an order of tables. Who may not say so goes without. */
async function disableTriggers(session: CopySession): Promise<readonly string[]> {
  await session.query("SET session_replication_role = 'replica'").catch(() => {});
  // Those of the kinds ALWAYS and REPLICA fire all the same, and the rows they made come with the others.
  const triggers = await queryLastRows(
    session,
    `SELECT format('ALTER TABLE %s DISABLE TRIGGER %I', tgrelid::regclass, tgname) AS off,
       format('ALTER TABLE %s ENABLE %s TRIGGER %I', tgrelid::regclass, CASE tgenabled WHEN 'A' THEN 'ALWAYS' ELSE 'REPLICA' END, tgname) AS back
     FROM pg_trigger WHERE tgenabled IN ('A', 'R') AND NOT tgisinternal`,
  );
  for (const { off } of triggers) await session.query(off ?? '');
  return triggers.map(({ back }) => back ?? '');
}

async function copyTable(
  from: CopySession,
  to: CopySession,
  { shown, quoted, columns }: TableToCopy,
  show: (state: TableProgress) => void,
): Promise<void> {
  let rows = 0;
  show({ name: shown, stage: 'd', rows });
  const sink = await to.copyIn(`COPY ${quoted} ${columns} FROM STDIN`);
  try {
    await from.copyOut(`COPY ${quoted} ${columns} TO STDOUT`, (bytes) => {
      // The server sends a message for each row.
      rows += 1;
      if (rows % 1000 === 0) show({ name: shown, stage: 'd', rows });
      return sink.write(bytes);
    });
  } catch (error) {
    await sink.abandon();
    throw error;
  }
  show({ name: shown, stage: 'r', rows: await sink.finish() });
}
