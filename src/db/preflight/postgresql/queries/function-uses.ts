import { decodeBooleanColumn, decodeTextColumn } from '../../../../postgresql/decode-row.ts';
import type { PostgresqlRow } from '../../../../postgresql/postgresql-row.ts';
import type { PostgresqlPreflightQuery } from '../query.ts';
import { createDatabaseFeatureCondition } from './database-overview.ts';
import { userFunctionDependentsCte } from './function-dependents.ts';
import { buildUserFunctionUsesSql } from './function-uses-sql.ts';

/** An object that calls a function of a user for each row that is written. */
export interface UserFunctionUse {
  /** Object id of the function that the object calls. */
  readonly calls: string;
  /**
   * The kind of object. `unique`: a unique index or an exclusion constraint; `support`: a support function of an
   * operator class.
   */
  readonly kind: 'check' | 'domain' | 'index' | 'unique' | 'generated' | 'partition' | 'support' | 'trigger' | 'event';
  /** The name of the object, as reports show it: `constraint on table`. */
  readonly name: string;
  /** Whether the function is called for rows that the initial copy reads. */
  readonly filled: boolean;
}

export const userFunctionUsesQuery: PostgresqlPreflightQuery<readonly UserFunctionUse[]> = {
  id: 'function-uses',
  scope: 'database',
  when: createDatabaseFeatureCondition('called-functions'),
  sql: (version) => `${userFunctionDependentsCte} ${buildUserFunctionUsesSql(version)}`,
  decode: (rows) =>
    rows.map((row) => ({
      calls: decodeTextColumn(row, 'calls'),
      kind: kindOf(row),
      name: decodeTextColumn(row, 'name'),
      filled: decodeBooleanColumn(row, 'filled'),
    })),
  absent: [],
};

function kindOf({ kind }: PostgresqlRow): UserFunctionUse['kind'] {
  return kinds.find((one) => one === kind) ?? 'check';
}

const kinds: readonly UserFunctionUse['kind'][] = [
  'domain',
  'index',
  'unique',
  'generated',
  'partition',
  'support',
  'trigger',
  'event',
];
