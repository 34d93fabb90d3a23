import { nearestWord } from '../../cli/nearest-word.ts';
import type { Clock } from '../../platform/host.ts';
import { timeoutSignal } from '../../platform/timeout-signal.ts';
import { firstNormalObjectId } from '../../postgresql/catalog-oids.ts';
import { decodeNumberColumnOrZero, decodeTextColumn } from '../../postgresql/decode-row.ts';
import type { DbSource } from '../source/index.ts';
import type { SchemaFingerprints } from './baseline.ts';
import type { PostgresqlPreflightQuery } from './postgresql/query.ts';
import { runPreflightQueryInEachDatabase } from './postgresql/run-preflight-query-in-each-database.ts';
import type { PreflightOptions } from './preflight-options.ts';
import type { PreflightReport } from './report.ts';

/**
 * A fingerprint of all tables of a schema. The fingerprint changes when a table of the schema is created, altered or
 * dropped.
 */
interface SchemaFingerprint {
  readonly schema: string;
  readonly tables: number;
  readonly columns: number;
  readonly hash: string;
}

/**
 * Only baselines and `db watch` use this query, because it reads every attribute of every table. The fingerprint is a
 * sum of hashes, which needs no sorting.
 */
export const schemaFingerprintsQuery: PostgresqlPreflightQuery<readonly SchemaFingerprint[]> = {
  id: 'schema-fingerprints',
  scope: 'database',
  sql: (version) => {
    const columnText =
      "concat_ws(':', c.relname, c.relkind, c.relreplident, a.attnum, a.attname, a.atttypid, a.atttypmod, a.attnotnull)";
    const hash = version < 110_000 ? `hashtext(${columnText})` : `hashtextextended(${columnText}, 0)`;
    return `
      SELECT
        n.nspname,
        count(DISTINCT c.oid) AS tables,
        count(*) AS columns,
        sum(${hash}::numeric) AS hash
      FROM pg_attribute a
      JOIN pg_class c ON c.oid = a.attrelid
      JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE c.relkind IN ('r', 'p')
        AND c.relpersistence <> 't'
        AND c.oid >= ${firstNormalObjectId}
        AND a.attnum > 0
        AND NOT a.attisdropped
      GROUP BY n.nspname
      ORDER BY n.nspname
    `;
  },
  decode: (rows) =>
    rows.map((row) => ({
      schema: decodeTextColumn(row, 'nspname'),
      tables: decodeNumberColumnOrZero(row, 'tables'),
      columns: decodeNumberColumnOrZero(row, 'columns'),
      hash: decodeTextColumn(row, 'hash'),
    })),
  absent: [],
};

/**
 * Reads fingerprints of every schema. Only `--baseline` needs them, because the query reads every column. Returns
 * undefined if the source could not be reached.
 */
export async function readSchemaFingerprints(
  clock: Clock,
  source: DbSource,
  options: PreflightOptions,
  report: PreflightReport,
): Promise<SchemaFingerprints | undefined> {
  if (source.engine === 'redis' || report.source.server_version === undefined) return undefined;
  const queryOptions = { source: source.source, ignoreDbs: options.ignoreDbs, clock, nearest: nearestWord };
  const results = await runPreflightQueryInEachDatabase(
    { ...queryOptions, signal: timeoutSignal(60_000) },
    schemaFingerprintsQuery,
  );
  const entries = results.flatMap((each) => {
    if ('failure' in each) return [];
    return each.value.map(({ schema, tables, columns, hash }) => [
      `${each.database}.${schema}`,
      `${tables} tables, ${columns} columns, hash ${hash}`,
    ]);
  });
  return Object.fromEntries(entries);
}
