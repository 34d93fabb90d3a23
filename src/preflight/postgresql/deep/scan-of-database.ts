import { type CheckOutcome, skip, unknown } from '../../finding.ts';
import type { PreflightOptions } from '../../preflight-options.ts';
import type { PostgresqlSourceFacts } from '../source-facts.ts';
import { pluralize } from '../units.ts';
import type { ScannedDatabase } from './scanned-rows.ts';

/** What reading the rows of a database found, or the outcome of a check that needs it. */
export function scanOfDatabase(
  database: string,
  { scans, access }: PostgresqlSourceFacts,
  { deep }: PreflightOptions,
): { readonly scan: ScannedDatabase } | { readonly outcome: CheckOutcome } {
  if (deep === undefined) return { outcome: skip('needs --deep') };
  if (access.get(database)?.kind !== 'entered') return { outcome: skip('the database was not reached (db-noconnect)') };
  const scan = scans?.get(database);
  return scan === undefined ? { outcome: unknown('the rows were not read before the end of the run') } : { scan };
}

/** The outcome of a check that found nothing in what was read, if a table was not read; undefined: all were. */
export function incompleteScan({ failure, unread }: ScannedDatabase): CheckOutcome | undefined {
  if (failure !== undefined) return skip('the tables could not be listed (unread-tables)');
  if (unread.length === 0) return undefined;
  return skip(`nothing found, and ${pluralize(unread.length, 'table')} not read (unread-tables)`);
}
