import type { PostgresqlEndpoint } from '../../../postgresql/endpoint.ts';
import { quoteIdentifier } from '../../../postgresql/quote.ts';
import type { SearchPathSafeSession } from '../../../postgresql/search-path-safe-session.ts';
import { isColumnReadByCopySql } from '../../../postgresql/table-rows.ts';
import type { DatabaseMigrationProgress, TableMigrationProgress } from '../engine-migration-state.ts';
import type { MigrationEngineDependencies } from '../migration-engine-input.ts';
import { queryLastRows, querySingleValue, withEngineDatabaseSession } from './engine-session.ts';
import { copyNonReplicatedData } from './non-replicated-data.ts';

export interface RowCopyOptions {
  readonly source: PostgresqlEndpoint;
  readonly target: PostgresqlEndpoint;
  readonly deps: MigrationEngineDependencies;
  readonly signal: AbortSignal;
  readonly name: string;
}

/**
 * Copies the rows of one database from a single snapshot of the source. Rejects if a table cannot be read or written.
 */
export async function copyDatabaseRows(
  { source, target, deps, signal, name }: RowCopyOptions,
  progress: DatabaseMigrationProgress,
): Promise<void> {
  const options = { name, signal };
  progress.phase = 'copying';
  await withEngineDatabaseSession(source, deps, options, (from) =>
    withEngineDatabaseSession(target, deps, options, async (to) => {
      // With row_security off the server reports an error instead of leaving out rows that a policy hides.
      await from.query('SET row_security = off');
      await from.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
      const tables = await listTablesToCopy(from);
      const rows = new Map(
        tables.map(({ displayName }) => [
          displayName,
          { name: displayName, stage: 'i', rows: 0 } as TableMigrationProgress,
        ]),
      );
      const report = (state: TableMigrationProgress) => {
        rows.set(state.name, state);
        progress.tables = [...rows.values()];
      };
      progress.tables = [...rows.values()];
      const enableTriggers = await disableTriggers(to);
      for (const table of tables) await copyTable(from, to, table, report);
      for (const statement of enableTriggers) await to.query(statement);
      progress.phase = 'finishing';
      progress.warnings.push(...(await copyNonReplicatedData(from, to)));
      await from.query('COMMIT');
    }),
  );
}

interface TableToCopy {
  readonly displayName: string;
  readonly quotedName: string;
  readonly columns: string;
}

/**
 * Partitioned tables are left out, because they contain no rows themselves, and generated columns, because the target
 * computes them.
 */
async function listTablesToCopy(session: SearchPathSafeSession): Promise<readonly TableToCopy[]> {
  const version = Number(await querySingleValue(session, 'SHOW server_version_num'));
  const rows = await queryLastRows(
    session,
    `SELECT n.nspname, c.relname, a.attname, c.oid FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND ${isColumnReadByCopySql(version)}
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
    displayName: `${schema}.${name}`,
    quotedName: `${quoteIdentifier(schema)}.${quoteIdentifier(name)}`,
    columns: columns.length === 0 ? '' : `(${columns.join(', ')})`,
  }));
}

/**
 * Disables triggers and foreign keys for this session, as replication does, so that tables can be copied in any order.
 * A role that may not set session_replication_role copies with triggers and foreign keys enabled.
 */
async function disableTriggers(session: SearchPathSafeSession): Promise<readonly string[]> {
  await session.query("SET session_replication_role = 'replica'").catch(() => {});
  // ALWAYS and REPLICA triggers are disabled too, because they fire with session_replication_role = replica; the rows
  // that they wrote on the source are copied with their tables.
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
  from: SearchPathSafeSession,
  to: SearchPathSafeSession,
  { displayName, quotedName, columns }: TableToCopy,
  report: (state: TableMigrationProgress) => void,
): Promise<void> {
  let rows = 0;
  report({ name: displayName, stage: 'd', rows });
  const sink = await to.copyIn(`COPY ${quotedName} ${columns} FROM STDIN`);
  try {
    await from.copyOut(
      `COPY ${quotedName} ${columns} TO STDOUT`,
      (bytes) => {
        // PostgreSQL sends one CopyData message per row.
        rows += 1;
        if (rows % 1000 === 0) report({ name: displayName, stage: 'd', rows });
        return sink.write(bytes);
      },
      'parts',
    );
  } catch (error) {
    await sink.abandon();
    throw error;
  }
  report({ name: displayName, stage: 'r', rows: await sink.finish() });
}
