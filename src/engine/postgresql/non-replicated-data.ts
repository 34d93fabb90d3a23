import type { CopySession } from '../../postgresql/connection.ts';
import { quoteIdentifier, quoteLiteral } from '../../postgresql/quote.ts';
import { redactedReason } from '../migration-error.ts';
import { migrationStatementTimeout, queryLastRows } from './engine-session.ts';

/**
 * What neither replication nor copied rows bring: the state of sequences, the rows of materialized views, large objects.
 * @returns what could not be brought
 */
export async function copyNonReplicatedData(source: CopySession, target: CopySession): Promise<readonly string[]> {
  return [
    ...(await setSequences(source, target)),
    ...(await refreshViews(source, target)),
    ...(await copyLargeObjects(source, target)),
  ];
}

interface NamedRelation {
  readonly shown: string;
  readonly quoted: string;
}

async function listRelations(session: CopySession, kind: 'S' | 'm', more = ''): Promise<readonly NamedRelation[]> {
  const rows = await queryLastRows(
    session,
    `SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE c.relkind = '${kind}' AND c.relpersistence <> 't' AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema' ${more}
     ORDER BY c.oid`,
  );
  return rows.map(({ nspname, relname }) => ({
    shown: `${nspname}.${relname}`,
    quoted: `${quoteIdentifier(nspname ?? '')}.${quoteIdentifier(relname ?? '')}`,
  }));
}

async function setSequences(source: CopySession, target: CopySession): Promise<readonly string[]> {
  const warnings: string[] = [];
  for (const { shown, quoted } of await listRelations(source, 'S')) {
    try {
      const [row] = await queryLastRows(source, `SELECT last_value, is_called FROM ${quoted}`);
      if (row?.last_value == null) continue;
      const called = row.is_called === 't';
      await target.query(`SELECT setval(${quoteLiteral(quoted)}, ${quoteLiteral(row.last_value)}::bigint, ${called})`);
    } catch (error) {
      warnings.push(`sequence ${shown} was not set: ${redactedReason(error)}`);
    }
  }
  return warnings;
}

/** One may read another that is still empty, which is an error: those that fail come again after the others. */
async function refreshViews(source: CopySession, target: CopySession): Promise<readonly string[]> {
  let waiting = await listRelations(source, 'm', 'AND c.relispopulated');
  for (;;) {
    const failed: { readonly view: NamedRelation; readonly error: unknown }[] = [];
    for (const view of waiting) {
      try {
        await target.query(`REFRESH MATERIALIZED VIEW ${view.quoted}`, migrationStatementTimeout);
      } catch (error) {
        failed.push({ view, error });
      }
    }
    if (failed.length === 0 || failed.length === waiting.length) {
      return failed.map(
        ({ view, error }) => `materialized view ${view.shown} was not refreshed: ${redactedReason(error)}`,
      );
    }
    waiting = failed.map(({ view }) => view);
  }
}

async function copyLargeObjects(source: CopySession, target: CopySession): Promise<readonly string[]> {
  const warnings: string[] = [];
  for (const { oid } of await queryLastRows(source, 'SELECT oid FROM pg_largeobject_metadata ORDER BY oid')) {
    try {
      await copyLargeObject(source, target, Number(oid));
    } catch (error) {
      warnings.push(`large object ${oid} was not copied: ${redactedReason(error)}`);
    }
  }
  return warnings;
}

/** Bytes at a time. */
const chunkBytes = 262_144;

async function copyLargeObject(source: CopySession, target: CopySession, oid: number): Promise<void> {
  await target.query(`SELECT lo_unlink(oid) FROM pg_largeobject_metadata WHERE oid = ${oid}; SELECT lo_create(${oid})`);
  for (let at = 0; ; at += chunkBytes) {
    const [row] = await queryLastRows(source, `SELECT encode(lo_get(${oid}, ${at}, ${chunkBytes}), 'base64') AS bytes`);
    const bytes = row?.bytes ?? '';
    if (bytes === '') return;
    await target.query(`SELECT lo_put(${oid}, ${at}, decode('${bytes}', 'base64'))`);
  }
}
