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
      for (const statement of enableTriggers) await to.query(statement, longTimeout);
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
     AND ${isNoMemberSql}
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
 * Disables triggers and foreign keys, as replication does, so that tables can be copied in any order: for this session,
 * or in the schema if the role may not set session_replication_role.
 * @returns statements that restore them
 */
async function disableTriggers(session: SafeSession): Promise<readonly string[]> {
  // The owner of a target has the setting, and may not set it.
  const [mode] = await lastRows(session, 'SHOW session_replication_role');
  const isReplica =
    mode?.session_replication_role === 'replica' ||
    (await session.query("SET session_replication_role = 'replica'").then(
      () => true,
      () => false,
    ));
  // Triggers that still fire are disabled one by one; the rows that they wrote on the source are copied with their
  // tables. Triggers of foreign keys belong to the system: only a superuser can disable them, so the keys are dropped.
  const changes = await lastRows(
    session,
    isReplica ? firingTriggersSql('A', 'R') : `${foreignKeysSql} UNION ALL ${firingTriggersSql('A', 'O')}`,
  );
  for (const { off } of changes) await session.query(off ?? '');
  return changes.map(({ back }) => back ?? '');
}

/**
 * ONLY, because a partition may have another state of the trigger than its partitioned table. Before PostgreSQL 15 the
 * trigger of a partition is internal, and follows that of the partitioned table.
 */
function firingTriggersSql(...states: readonly ('A' | 'R' | 'O')[]): string {
  const isOwn = "current_setting('server_version_num')::int >= 150000";
  return `SELECT format('ALTER TABLE %s%s DISABLE TRIGGER %I', CASE WHEN ${isOwn} THEN 'ONLY ' END, t.tgrelid::regclass, t.tgname) AS off,
      format('ALTER TABLE %s%s ENABLE %s TRIGGER %I', CASE WHEN ${isOwn} THEN 'ONLY ' END, t.tgrelid::regclass,
        CASE t.tgenabled WHEN 'A' THEN 'ALWAYS' WHEN 'R' THEN 'REPLICA' END, t.tgname) AS back
    FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
    WHERE (c.relkind = 'r' OR NOT ${isOwn}) AND NOT t.tgisinternal AND t.tgenabled IN (${states.map(quoteLiteral).join(', ')})
      AND ${isNoMemberSql}`;
}

/** A table of an extension belongs to the superuser who installed the extension, and its rows are not copied. */
const isNoMemberSql = `NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')`;

/** The key of a partitioned table contains those of its partitions, which have coninhcount 1. */
const foreignKeysSql = `SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', k.conrelid::regclass, k.conname) AS off,
    format('ALTER TABLE %s ADD CONSTRAINT %I %s', k.conrelid::regclass, k.conname, pg_get_constraintdef(k.oid))
      || CASE WHEN n.description IS NULL THEN ''
        ELSE format('; COMMENT ON CONSTRAINT %I ON %s IS %L', k.conname, k.conrelid::regclass, n.description) END AS back
  FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid
    LEFT JOIN pg_description n ON n.objoid = k.oid AND n.classoid = 'pg_constraint'::regclass
  WHERE k.contype = 'f' AND k.coninhcount = 0 AND ${isNoMemberSql}`;

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
