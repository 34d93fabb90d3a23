import type { PostgresqlRow } from '../../../postgresql/postgresql-row.ts';
import type { PostgresqlQuery } from '../query.ts';
import { whenFeaturePresent } from './database-overview.ts';
import { decodeBoolean, decodeText } from './decode.ts';
import { userFunctionDependentsCte } from './function-dependents.ts';
import { functionUsesSql } from './function-uses-sql.ts';
import { grantMonitorRole } from './grants.ts';

/** An object that calls a function of a user for each row that is written. */
export interface FunctionUse {
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

export const functionUsesQuery: PostgresqlQuery<readonly FunctionUse[]> = {
  id: 'function-uses',
  scope: 'database',
  when: whenFeaturePresent('called-functions'),
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
