import type { PostgresqlEndpoint } from '../../../postgresql/endpoint.ts';
import { quoteIdentifier, quoteLiteral } from '../../../postgresql/quote.ts';
import type { PostgresqlRow } from '../../../postgresql/rows.ts';
import type { SafeSession } from '../../../postgresql/search-path-safe-session.ts';
import { decodeSequenceState, sequenceStateColumns } from '../../../postgresql/sequence-state.ts';
import { isCopiedSql } from '../../../postgresql/table-rows.ts';
import { redactReason } from '../error.ts';
import type { EngineSystem } from '../input.ts';
import type { DatabaseProgress, TableProgress } from '../state.ts';
import { lastRows, longTimeout, singleValue, withSession } from './session.ts';

interface RowCopyOptions {
  readonly source: PostgresqlEndpoint;
  readonly target: PostgresqlEndpoint;
  readonly deps: EngineSystem;
  readonly signal: AbortSignal;
  readonly name: string;
}

/**
 * Copies the rows of one database from a single snapshot of the source. Rejects if a table cannot be read or written.
 */
export async function copyRows(
  { source, target, deps, signal, name }: RowCopyOptions,
  progress: DatabaseProgress,
): Promise<void> {
  const options = { name, signal };
  progress.phase = 'copying';
  await withSession(source, deps, options, (from) =>
    withSession(target, deps, options, async (to) => {
      // With row_security off the server reports an error instead of leaving out rows that a policy hides.
      await from.query('SET row_security = off');
      await from.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
      const tables = await listTablesToCopy(from);
      const rows = new Map(
        tables.map(({ displayName }) => [displayName, { name: displayName, stage: 'i', rows: 0 } as TableProgress]),
      );
      const report = (state: TableProgress) => {
        rows.set(state.name, state);
        progress.tables = [...rows.values()];
      };
      progress.tables = [...rows.values()];
      const enableTriggers = await disableTriggers(to);
      for (const table of tables) await copyTable(from, to, table, report);
      for (const statement of enableTriggers) await to.query(statement);
      progress.phase = 'finishing';
      progress.warnings.push(...(await copyRest(from, to)));
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
async function listTablesToCopy(session: SafeSession): Promise<readonly TableToCopy[]> {
  const version = Number(await singleValue(session, 'SHOW server_version_num'));
  const rows = await lastRows(
    session,
    `SELECT n.nspname, c.relname, a.attname, c.oid FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND ${isCopiedSql(version)}
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
async function disableTriggers(session: SafeSession): Promise<readonly string[]> {
  await session.query("SET session_replication_role = 'replica'").catch(() => {});
  // ALWAYS and REPLICA triggers are disabled too, because they fire with session_replication_role = replica; the rows
  // that they wrote on the source are copied with their tables.
  const triggers = await lastRows(
    session,
    `SELECT format('ALTER TABLE %s DISABLE TRIGGER %I', tgrelid::regclass, tgname) AS off,
       format('ALTER TABLE %s ENABLE %s TRIGGER %I', tgrelid::regclass, CASE tgenabled WHEN 'A' THEN 'ALWAYS' ELSE 'REPLICA' END, tgname) AS back
     FROM pg_trigger WHERE tgenabled IN ('A', 'R') AND NOT tgisinternal`,
  );
  for (const { off } of triggers) await session.query(off ?? '');
  return triggers.map(({ back }) => back ?? '');
}

async function copyTable(
  from: SafeSession,
  to: SafeSession,
  { displayName, quotedName, columns }: TableToCopy,
  report: (state: TableProgress) => void,
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

/**
 * Copies what logical replication and COPY do not transfer: sequence values, rows of materialized views, large objects.
 * @returns a warning for each object that could not be copied
 */
export async function copyRest(source: SafeSession, target: SafeSession): Promise<readonly string[]> {
  return [
    ...(await setSequences(source, target)),
    ...(await refreshViews(source, target)),
    ...(await copyLargeObjects(source, target)),
  ];
}

interface NamedRelation {
  readonly displayName: string;
  readonly quotedName: string;
}

function listRelations(
  session: SafeSession,
  { columns = '', where }: { readonly columns?: string; readonly where: string },
): Promise<readonly PostgresqlRow[]> {
  return lastRows(
    session,
    `SELECT n.nspname, c.relname${columns} FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE c.relpersistence <> 't' AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema' AND ${where}
     ORDER BY c.oid`,
  );
}

function namesOf({ nspname, relname }: PostgresqlRow): NamedRelation {
  return {
    displayName: `${nspname}.${relname}`,
    quotedName: `${quoteIdentifier(nspname ?? '')}.${quoteIdentifier(relname ?? '')}`,
  };
}

async function setSequences(source: SafeSession, target: SafeSession): Promise<readonly string[]> {
  const version = Number(await singleValue(source, 'SHOW server_version_num'));
  const warnings: string[] = [];
  const unused: string[] = [];
  const where = "c.relkind = 'S'";
  for (const row of await listRelations(source, { columns: `, ${sequenceStateColumns(version)}`, where })) {
    const { displayName, quotedName } = namesOf(row);
    const state = decodeSequenceState(row);
    if (state === 'not used') {
      unused.push(displayName);
      continue;
    }
    if (state === undefined) {
      warnings.push(`could not set the sequence ${displayName}: permission denied on the source`);
      continue;
    }
    try {
      await target.query(
        `SELECT setval(${quoteLiteral(quotedName)}, ${quoteLiteral(state.value)}::bigint, ${state.called})`,
      );
    } catch (error) {
      warnings.push(`could not set the sequence ${displayName}: ${redactReason(error)}`);
    }
  }
  return [...warnings, ...unusedSequencesWarning(unused)];
}

/**
 * Sequences whose state cannot be read without running code of other users (sequence-state.ts) keep the start value.
 */
function unusedSequencesWarning(names: readonly string[]): readonly string[] {
  if (names.length === 0) return [];
  const listed = `${names.slice(0, 5).join(', ')}${names.length > 5 ? ` and ${names.length - 5} more` : ''}`;
  return [
    `these sequences were never used and begin with their start value; if setval or RESTART changed one, set it on the target: ${listed}`,
  ];
}

/**
 * A materialized view may read another one that is not populated yet, which is an error, so failed views are refreshed
 * again after the others.
 */
async function refreshViews(source: SafeSession, target: SafeSession): Promise<readonly string[]> {
  let pending = (await listRelations(source, { where: "c.relkind = 'm' AND c.relispopulated" })).map(namesOf);
  for (;;) {
    const failed: { readonly view: NamedRelation; readonly error: unknown }[] = [];
    for (const view of pending) {
      try {
        await target.query(`REFRESH MATERIALIZED VIEW ${view.quotedName}`, longTimeout);
      } catch (error) {
        failed.push({ view, error });
      }
    }
    if (failed.length === 0 || failed.length === pending.length) {
      return failed.map(
        ({ view, error }) => `could not refresh the materialized view ${view.displayName}: ${redactReason(error)}`,
      );
    }
    pending = failed.map(({ view }) => view);
  }
}

async function copyLargeObjects(source: SafeSession, target: SafeSession): Promise<readonly string[]> {
  const warnings: string[] = [];
  for (const { oid } of await lastRows(source, 'SELECT oid FROM pg_largeobject_metadata ORDER BY oid')) {
    try {
      await copyLargeObject(source, target, Number(oid));
    } catch (error) {
      warnings.push(`could not copy the large object ${oid}: ${redactReason(error)}`);
    }
  }
  return warnings;
}

/** Maximum bytes of a large object that one statement copies. */
const chunkBytes = 262_144;

async function copyLargeObject(source: SafeSession, target: SafeSession, oid: number): Promise<void> {
  await target.query(`SELECT lo_unlink(oid) FROM pg_largeobject_metadata WHERE oid = ${oid}; SELECT lo_create(${oid})`);
  for (let at = 0; ; at += chunkBytes) {
    const [row] = await lastRows(source, `SELECT encode(lo_get(${oid}, ${at}, ${chunkBytes}), 'base64') AS bytes`);
    const bytes = Buffer.from(row?.bytes ?? '', 'base64');
    if (bytes.length > 0) {
      await target.query(`SELECT lo_put(${oid}, ${at}, decode(${quoteLiteral(bytes.toString('base64'))}, 'base64'))`);
    }
    if (bytes.length < chunkBytes) return;
  }
}
