import {
  decodeNumberColumnOrZero,
  decodeOptionalTextColumn,
  decodeTextArrayColumn,
  decodeTextColumn,
} from '../../../../postgresql/decode-row.ts';
import { quoteIdentifier } from '../../../../postgresql/quote.ts';
import type { PostgresqlPreflightQuery } from '../query.ts';

/** A line of pg_hba.conf as the server parses it; the lines of included files are part of the result. */
export interface HbaRule {
  readonly line: number;
  /** The type of the line: `local`, `host`, `hostssl`, `hostnossl`, `hostgssenc`, `hostnogssenc`. */
  readonly type: string;
  readonly databases: readonly string[];
  readonly users: readonly string[];
  /** The address field of the line: an address, `all`, `samehost`, `samenet` or a host name; empty for `local`. */
  readonly address: string;
  readonly netmask: string | undefined;
  readonly method: string;
  readonly options: readonly string[];
  /** Why the server cannot parse the line of pg_hba.conf; the other fields are then empty. */
  readonly error: string | undefined;
}

export const hbaRulesQuery: PostgresqlPreflightQuery<readonly HbaRule[]> = {
  id: 'hba-rules',
  scope: 'server',
  sql: (version) =>
    version < 100_000
      ? undefined
      : `
        SELECT
          line_number,
          type,
          database AS databases,
          user_name AS users,
          address,
          netmask,
          auth_method,
          options,
          error
        FROM pg_hba_file_rules
        ORDER BY ${version < 160_000 ? '' : 'rule_number, '}line_number
      `,
  decode: (rows) =>
    rows.map((row) => ({
      line: decodeNumberColumnOrZero(row, 'line_number'),
      type: decodeTextColumn(row, 'type'),
      databases: decodeTextArrayColumn(row, 'databases'),
      users: decodeTextArrayColumn(row, 'users'),
      address: decodeTextColumn(row, 'address'),
      netmask: decodeOptionalTextColumn(row, 'netmask'),
      method: decodeTextColumn(row, 'auth_method'),
      options: decodeTextArrayColumn(row, 'options'),
      error: decodeOptionalTextColumn(row, 'error'),
    })),
  absent: [],
  grant: (user) => {
    const role = quoteIdentifier(user);
    return `GRANT EXECUTE ON FUNCTION pg_hba_file_rules() TO ${role}; GRANT SELECT ON pg_hba_file_rules TO ${role}`;
  },
};
