import { countOf } from '../../../../base/text.ts';
import { type PreflightCheckOutcome, skipOutcome, unknownOutcome } from '../../finding.ts';
import type { PreflightOptions } from '../../preflight-options.ts';
import type { PostgresqlSourceFacts } from '../source-facts.ts';
import type { DatabaseScanResult } from './scanned-row-statistics.ts';

/**
 * The result of reading the rows of a database. If the rows were not read, the outcome of a check that needs the rows.
 */
export function getRowScanOrCheckOutcome(
  database: string,
  { scans, access }: PostgresqlSourceFacts,
  { deep }: PreflightOptions,
): { readonly scan: DatabaseScanResult } | { readonly outcome: PreflightCheckOutcome } {
  if (deep === undefined) return { outcome: skipOutcome('needs --deep') };
  if (access.get(database)?.kind !== 'entered')
    return { outcome: skipOutcome('the database was not reached (db-noconnect)') };
  const scan = scans?.get(database);
  return scan === undefined
    ? { outcome: unknownOutcome('the rows were not read before the end of the run') }
    : { scan };
}

/**
 * The outcome of a check that found nothing in the rows that were read, although some tables were not read; undefined
 * if all tables were read.
 */
export function buildIncompleteScanOutcome({ failure, unread }: DatabaseScanResult): PreflightCheckOutcome | undefined {
  if (failure !== undefined) return skipOutcome('the tables could not be listed (unread-tables)');
  if (unread.length === 0) return undefined;
  return skipOutcome(`nothing found, and ${countOf(unread.length, 'table')} not read (unread-tables)`);
}
