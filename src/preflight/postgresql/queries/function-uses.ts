import type { PostgresqlRow } from '../../../postgresql/postgresql-row.ts';
import type { PostgresqlQuery } from '../query.ts';
import { whenPresent } from './database-overview.ts';
import { decodeBoolean, decodeText } from './decode.ts';
import { userFunctionDependentsCte } from './function-dependents.ts';
import { functionUsesSql } from './function-uses-sql.ts';
import { grantMonitorRole } from './grants.ts';

/** Something that calls a function of a person for each row that is written. */
export interface FunctionUse {
  /** The oid of the function. */
  readonly calls: string;
  /** `unique`: an index that takes nothing twice; `support`: what compares or hashes its entries. */
  readonly kind: 'check' | 'domain' | 'index' | 'unique' | 'generated' | 'partition' | 'support' | 'trigger' | 'event';
  /** `constraint on table`, as it is shown. */
  readonly name: string;
  /** Rows are to be copied for which it is called; only tables that are replicated count. */
  readonly filled: boolean;
}

export const functionUsesQuery: PostgresqlQuery<readonly FunctionUse[]> = {
  id: 'function-uses',
  scope: 'database',
  when: whenPresent('called-functions'),
  sql: (version) => `${userFunctionDependentsCte} ${functionUsesSql(version)}`,
  decode: (rows) =>
    rows.map((row) => ({
      calls: decodeText(row, 'calls'),
      kind: kindOf(row),
      name: decodeText(row, 'name'),
      filled: decodeBoolean(row, 'filled'),
    })),
  absent: [],
  grant: grantMonitorRole,
};

function kindOf({ kind }: PostgresqlRow): FunctionUse['kind'] {
  return kinds.find((one) => one === kind) ?? 'check';
}

const kinds: readonly FunctionUse['kind'][] = [
  'domain',
  'index',
  'unique',
  'generated',
  'partition',
  'support',
  'trigger',
  'event',
];
