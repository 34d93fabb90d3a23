import { PostgresqlQueryError } from '../../../postgresql/query-error.ts';
import { buildComparableTextSettings } from '../../../postgresql/read-table-rows-by-copy.ts';
import { buildReadOnlyTransactionSql, searchPathSafeRollbackSql } from '../../../postgresql/search-path-safe-sql.ts';
import { createTableDigestBuilder, type TableContentDigest } from '../../../postgresql/table-digest.ts';
import { buildCopyTableTransaction, readTableRows, splitBinaryCopyRow } from '../../../postgresql/table-rows.ts';
import { longTimeout } from '../../engine/tools.ts';
import type { TableComparison } from '../rehearse/report.ts';
import { queryCatalogRows, readPostgresqlServerVersion, type TableContentSession } from './rehearsal-tables.ts';

/**
 * Compares the large objects of a database on both servers. Returns one entry, whose row counts are numbers of large objects; no
 * entry if neither server has large objects.
 */
export async function compareLargeObjects(
  source: TableContentSession,
  target: TableContentSession,
): Promise<readonly TableComparison[]> {
  const counts = { source: await countLargeObjects(source), target: await countLargeObjects(target) };
  if (counts.source === 0 && counts.target === 0) return [];
  const entry = { name: 'large objects', rows_source: counts.source, rows_target: counts.target };
  if (counts.source !== counts.target) return [{ ...entry, state: 'differs' }];
  try {
    const before = await readLargeObjects(source);
    const there = await readLargeObjects(target);
    if (before.digest === there.digest) return [{ ...entry, state: 'equal' }];
    const after = await readLargeObjects(source);
    const isSettled = before.digest === after.digest && there.digest === (await readLargeObjects(target)).digest;
    return [{ ...entry, state: isSettled ? 'differs' : 'not_comparable' }];
  } catch (error) {
    if (!(error instanceof PostgresqlQueryError) || error.lost) throw error;
    for (const session of [source, target]) await session.query(searchPathSafeRollbackSql);
    return [{ ...entry, state: 'not_comparable', error: `could not be read: ${error.message}`, acceptable: true }];
  }
}

async function countLargeObjects(session: TableContentSession): Promise<number> {
  const [row] = await queryCatalogRows(session, 'SELECT count(*) AS count FROM pg_largeobject_metadata');
  return Number(row?.count ?? 0);
}

/**
 * Reads the content of all large objects. Missing pages count as zeros, so that a large object with a gap is equal to a
 * restored one whose gap was filled with zeros.
 */
async function readLargeObjects(session: TableContentSession): Promise<TableContentDigest> {
  const version = await readPostgresqlServerVersion(session);
  const pages = { schema: 'pg_catalog', name: 'pg_largeobject', columns: ['loid', 'pageno', 'data'] };
  const settings = buildComparableTextSettings(version, version);
  const message = buildReadOnlyTransactionSql(buildCopyTableTransaction(pages, version, 'binary'), settings);
  const digest = createTableDigestBuilder();
  const ends = new Map<number, { readonly page: number; readonly length: number }>();
  const visit = (row: Uint8Array) => {
    const [loid, pageno, data] = splitBinaryCopyRow(row).map((field) => field && Buffer.from(field));
    if (!loid || !pageno || !data) return false;
    const [object, page] = [loid.readUInt32BE(), pageno.readInt32BE()];
    if (page >= (ends.get(object)?.page ?? 0)) ends.set(object, { page, length: data.length });
    const used = data.subarray(0, data.findLastIndex((byte) => byte !== 0) + 1);
    if (used.length > 0) digest.add(Buffer.from(`${object} ${page} ${used.toString('base64')}\n`));
    return false;
  };
  await readTableRows(session, message, visit, { time: longTimeout });
  for (const [object, { page, length }] of ends) digest.add(Buffer.from(`${object} ends at ${page} ${length}\n`));
  const empty = await queryCatalogRows(
    session,
    `SELECT m.oid FROM pg_largeobject_metadata m WHERE NOT EXISTS (SELECT 1 FROM pg_largeobject l WHERE l.loid = m.oid)`,
  );
  for (const { oid } of empty) digest.add(Buffer.from(`${oid} is empty\n`));
  return digest.content();
}
