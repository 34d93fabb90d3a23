import { decodeNumberColumnOrZero, decodeTextColumn } from '../../../../postgresql/decode-row.ts';
import { quoteIdentifier } from '../../../../postgresql/quote.ts';
import type { PostgresqlPreflightQuery } from '../query.ts';

/** A line of a configuration file that the server could not apply. */
export interface UnappliedConfigLine {
  readonly name: string;
  readonly value: string;
  readonly error: string;
  readonly file: string;
  readonly line: number;
}

/** The `error` in pg_file_settings of a valid line that takes effect after a restart. */
export const pgFileSettingsRestartError = 'setting could not be applied';

export const failedConfigLinesQuery: PostgresqlPreflightQuery<readonly UnappliedConfigLine[]> = {
  id: 'unapplied-config-lines',
  scope: 'server',
  sql: () => `
    SELECT name, setting, error, sourcefile, sourceline
    FROM pg_file_settings
    WHERE NOT applied AND error IS NOT NULL
  `,
  decode: (rows) =>
    rows.map((row) => ({
      name: decodeTextColumn(row, 'name'),
      value: decodeTextColumn(row, 'setting'),
      error: decodeTextColumn(row, 'error'),
      file: decodeTextColumn(row, 'sourcefile'),
      line: decodeNumberColumnOrZero(row, 'sourceline'),
    })),
  absent: [],
  grant: (user) => {
    const role = quoteIdentifier(user);
    return `GRANT EXECUTE ON FUNCTION pg_show_all_file_settings() TO ${role}; GRANT SELECT ON pg_file_settings TO ${role}`;
  },
};
