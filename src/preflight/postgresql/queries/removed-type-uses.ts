import type { PostgresqlQuery } from '../query.ts';
import { decodeOptionalText, decodeText } from './decode.ts';
import { grantMonitorRole } from './grants.ts';

/** What 12 took away: tables WITH OIDS, and columns of three types. */
export interface RemovedTypeUse {
  readonly table: string;
  /** Quoted, with its type; undefined: the table is WITH OIDS. */
  readonly column: string | undefined;
}

/** 702 to 704 are abstime, reltime and tinterval, 1023 to 1025 their arrays. */
export const removedTypeUsesQuery: PostgresqlQuery<readonly RemovedTypeUse[]> = {
  id: 'removed-types',
  scope: 'database',
  sql: (version) =>
    version >= 120_000
      ? undefined
      : "SELECT oid::regclass AS name, NULL AS described FROM pg_class WHERE relhasoids AND oid >= 16384 AND relkind IN ('r', 'p') AND relpersistence <> 't' UNION ALL SELECT c.oid::regclass, quote_ident(a.attname) || ' ' || format_type(a.atttypid, a.atttypmod) FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid WHERE a.atttypid IN (702, 703, 704, 1023, 1024, 1025) AND a.attnum > 0 AND NOT a.attisdropped AND c.oid >= 16384 AND c.relkind IN ('r', 'p', 'c', 'f') AND c.relpersistence <> 't'",
  decode: (rows) =>
    rows.map((row) => ({ table: decodeText(row, 'name'), column: decodeOptionalText(row, 'described') })),
  absent: [],
  grant: grantMonitorRole,
};
