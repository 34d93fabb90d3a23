import { nearestWord } from '../cli/nearest-word.ts';
import type { DbSource } from '../db/source/index.ts';
import type { Clock } from '../platform/host.ts';
import { timeoutSignal } from '../platform/timeout-signal.ts';
import type { SchemaFingerprints } from './baseline.ts';
import { schemaFingerprintsQuery } from './postgresql/queries/schema-fingerprints.ts';
import { runPreflightQueryInEachDatabase } from './postgresql/run-preflight-query-in-each-database.ts';
import type { PreflightOptions } from './preflight-options.ts';
import type { PreflightReport } from './report.ts';

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
