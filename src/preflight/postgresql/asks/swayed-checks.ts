import type { Ask } from '../ask.ts';
import { textIn, truthIn } from './decode.ts';
import { grantMonitor } from './grants.ts';
import { swayed, swayedFunctions, where } from './overview.ts';
import { looking, type RowsSeen, rowsOf, violated } from './unvalidated.ts';

/** A CHECK that goes by the time zone of a session, or by how it writes dates. */
export interface SwayedCheck {
  /** Quoted. */
  readonly name: string;
  /** The table, or the domain. */
  readonly owner: string;
  readonly ofDomain: boolean;
  /** `CHECK (((at)::date = day))`. */
  readonly definition: string;
  /** A text is read as a date, which fails where the order of day and month is another. */
  readonly readsDates: boolean;
  /** Looked at as a server sees them that has no settings of its own. */
  readonly rows: RowsSeen;
}

/** What a server has that nobody changed, and that is what a target has. */
export const neutral = { TimeZone: 'UTC', DateStyle: 'ISO, MDY', IntervalStyle: 'postgres' } as const;

/** Until the end of the transaction; before anything is read, so that constants mean the same. */
const settled = Object.entries(neutral)
  .map(([name, value]) => `set_config('${name}', '${value}', true) IS NOT NULL`)
  .join(' AND ');

export const swayedChecks: Ask<readonly SwayedCheck[]> = {
  id: 'swayed-checks',
  scope: 'database',
  when: where('odd-constraints'),
  sql: (version) =>
    `SELECT o.*, ${violated('NOT o.reads_dates')} FROM (SELECT ${settled} AS done OFFSET 0) s CROSS JOIN LATERAL (SELECT quote_ident(k.conname) AS conname, CASE WHEN k.contypid <> '0' THEN k.contypid::regtype::text ELSE k.conrelid::regclass::text END AS owner, k.contypid <> '0' AS of_domain, pg_get_constraintdef(k.oid) AS definition, k.conbin::text ~ 'COERCEVIAIO.* :resulttype (1082|1083|1114|1184|1266) ' AS reads_dates, ${looking(version, swayedFunctions)} FROM pg_constraint k WHERE s.done AND ${swayed}${version < 180_000 ? '' : ' AND k.conenforced'} OFFSET 0) o ORDER BY 2, 1`,
  decode: (rows) =>
    rows.map((row) => ({
      name: textIn(row, 'conname'),
      owner: textIn(row, 'owner'),
      ofDomain: truthIn(row, 'of_domain'),
      definition: textIn(row, 'definition'),
      readsDates: truthIn(row, 'reads_dates'),
      rows: rowsOf(row),
    })),
  absent: [],
  grant: grantMonitor,
};
