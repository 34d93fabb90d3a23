import { quoteIdentifier } from '../../../postgresql/quote.ts';
import type { Ask } from '../ask.ts';
import { numberIn, textIn } from './decode.ts';

/** A line of a configuration file that is not in force. */
export interface PendingLine {
  readonly name: string;
  readonly value: string;
  readonly error: string;
  readonly file: string;
  readonly line: number;
}

export const pending: Ask<readonly PendingLine[]> = {
  id: 'pending',
  scope: 'server',
  sql: () =>
    'SELECT name, setting, error, sourcefile, sourceline FROM pg_file_settings WHERE NOT applied AND error IS NOT NULL',
  decode: (rows) =>
    rows.map((row) => ({
      name: textIn(row, 'name'),
      value: textIn(row, 'setting'),
      error: textIn(row, 'error'),
      file: textIn(row, 'sourcefile'),
      line: numberIn(row, 'sourceline'),
    })),
  absent: [],
  grant: (user) =>
    `GRANT EXECUTE ON FUNCTION pg_show_all_file_settings() TO ${quoteIdentifier(user)}; GRANT SELECT ON pg_file_settings TO ${quoteIdentifier(user)}`,
};
