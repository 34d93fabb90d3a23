import type { Ask } from '../ask.ts';
import { textIn, truthIn } from './decode.ts';
import { grantMonitor } from './grants.ts';
import { asksSession, lookUps, where } from './overview.ts';
import { looking, type RowsSeen, rowsOf, violated } from './unvalidated.ts';

/** A CHECK that asks what the session of whoever writes knows: who it is, what it has set, where it looks for names. */
export interface SessionCheck {
  /** Quoted. */
  readonly name: string;
  /** The table, or the domain. */
  readonly owner: string;
  readonly ofDomain: boolean;
  /** `CHECK ((tenant = current_setting('app.tenant'::text)))`. */
  readonly definition: string;
  /** Looked at by another role than the one who wrote them, with an empty search_path. */
  readonly rows: RowsSeen;
}

export const sessionChecks: Ask<readonly SessionCheck[]> = {
  id: 'session-checks',
  scope: 'database',
  when: where('odd-constraints'),
  sql: (version) =>
    `SELECT o.*, ${violated()} FROM (SELECT quote_ident(k.conname) AS conname, CASE WHEN k.contypid <> '0' THEN k.contypid::regtype::text ELSE k.conrelid::regclass::text END AS owner, k.contypid <> '0' AS of_domain, pg_get_constraintdef(k.oid) AS definition, ${looking(version, lookUps)} FROM pg_constraint k WHERE k.oid >= '16384' AND ${asksSession}${version < 180_000 ? '' : ' AND k.conenforced'} OFFSET 0) o ORDER BY 2, 1`,
  decode: (rows) =>
    rows.map((row) => ({
      name: textIn(row, 'conname'),
      owner: textIn(row, 'owner'),
      ofDomain: truthIn(row, 'of_domain'),
      definition: textIn(row, 'definition'),
      rows: rowsOf(row),
    })),
  absent: [],
  grant: grantMonitor,
};
