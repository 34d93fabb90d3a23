import { quoteIdentifier } from '../../../postgresql/quote.ts';

/** The statement that lets a role read what only members of a monitoring role see. */
export function grantMonitor(user: string): string {
  return `GRANT pg_monitor, pg_read_all_settings TO ${quoteIdentifier(user)}`;
}
