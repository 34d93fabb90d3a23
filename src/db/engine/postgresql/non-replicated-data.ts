import type { PostgresqlRow } from '../../../postgresql/postgresql-row.ts';
import { quoteIdentifier, quoteLiteral } from '../../../postgresql/quote.ts';
import type { SearchPathSafeSession } from '../../../postgresql/search-path-safe-session.ts';
import { decodeSequenceState, sequenceStateColumns } from '../../../postgresql/sequence-state.ts';
import { redactErrorReason } from '../migration-error.ts';
import { migrationStatementTimeout, queryLastRows, querySingleValue } from './engine-session.ts';

/**
 * Copies what logical replication and COPY do not transfer: sequence values, rows of materialized views, large objects.
 * @returns a warning for each object that could not be copied
 */
export async function copyNonReplicatedData(
  source: SearchPathSafeSession,
  target: SearchPathSafeSession,
): Promise<readonly string[]> {
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
  session: SearchPathSafeSession,
  { columns = '', where }: { readonly columns?: string; readonly where: string },
): Promise<readonly PostgresqlRow[]> {
  return queryLastRows(
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

async function setSequences(source: SearchPathSafeSession, target: SearchPathSafeSession): Promise<readonly string[]> {
  const version = Number(await querySingleValue(source, 'SHOW server_version_num'));
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
      warnings.push(`could not set the sequence ${displayName}: ${redactErrorReason(error)}`);
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
async function refreshViews(source: SearchPathSafeSession, target: SearchPathSafeSession): Promise<readonly string[]> {
  let pending = (await listRelations(source, { where: "c.relkind = 'm' AND c.relispopulated" })).map(namesOf);
  for (;;) {
    const failed: { readonly view: NamedRelation; readonly error: unknown }[] = [];
    for (const view of pending) {
      try {
        await target.query(`REFRESH MATERIALIZED VIEW ${view.quotedName}`, migrationStatementTimeout);
      } catch (error) {
        failed.push({ view, error });
      }
    }
    if (failed.length === 0 || failed.length === pending.length) {
      return failed.map(
        ({ view, error }) => `could not refresh the materialized view ${view.displayName}: ${redactErrorReason(error)}`,
      );
    }
    pending = failed.map(({ view }) => view);
  }
}

async function copyLargeObjects(
  source: SearchPathSafeSession,
  target: SearchPathSafeSession,
): Promise<readonly string[]> {
  const warnings: string[] = [];
  for (const { oid } of await queryLastRows(source, 'SELECT oid FROM pg_largeobject_metadata ORDER BY oid')) {
    try {
      await copyLargeObject(source, target, Number(oid));
    } catch (error) {
      warnings.push(`could not copy the large object ${oid}: ${redactErrorReason(error)}`);
    }
  }
  return warnings;
}

/** Maximum bytes of a large object that one statement copies. */
const chunkBytes = 262_144;

async function copyLargeObject(
  source: SearchPathSafeSession,
  target: SearchPathSafeSession,
  oid: number,
): Promise<void> {
  await target.query(`SELECT lo_unlink(oid) FROM pg_largeobject_metadata WHERE oid = ${oid}; SELECT lo_create(${oid})`);
  for (let at = 0; ; at += chunkBytes) {
    const [row] = await queryLastRows(source, `SELECT encode(lo_get(${oid}, ${at}, ${chunkBytes}), 'base64') AS bytes`);
    const bytes = Buffer.from(row?.bytes ?? '', 'base64');
    if (bytes.length > 0) {
      await target.query(`SELECT lo_put(${oid}, ${at}, decode(${quoteLiteral(bytes.toString('base64'))}, 'base64'))`);
    }
    if (bytes.length < chunkBytes) return;
  }
}
