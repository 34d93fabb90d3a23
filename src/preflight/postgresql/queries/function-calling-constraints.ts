import { oidsOfCatalogs } from '../../../postgresql/catalog-oids.ts';
import { decodeTextColumn } from '../../../postgresql/decode-row.ts';
import type { PostgresqlPreflightQuery } from '../query.ts';
import { createDatabaseFeatureCondition } from './database-overview.ts';
import { userFunctionDependentsCte } from './function-dependents.ts';

/** A CHECK constraint that calls a function of a user, on a table with rows. The function may read other tables. */
export interface FunctionCallingConstraint {
  /** Object id of the function that the constraint calls. */
  readonly calls: string;
  /** Quoted. */
  readonly name: string;
  /** Qualified and quoted. */
  readonly table: string;
  readonly schema: string;
  /** Not quoted. */
  readonly relation: string;
  readonly definition: string;
}

export const functionCallingConstraintsQuery: PostgresqlPreflightQuery<readonly FunctionCallingConstraint[]> = {
  id: 'function-calling-constraints',
  scope: 'database',
  when: createDatabaseFeatureCondition('called-functions'),
  sql: (version) => `
     ${userFunctionDependentsCte}
    SELECT DISTINCT
      d.calls,
      quote_ident(k.conname) AS conname,
      c.oid::regclass AS name,
      n.nspname,
      c.relname,
      pg_get_constraintdef(k.oid) AS definition
    FROM d
    JOIN pg_constraint k ON k.oid = d.objid
    JOIN pg_class c ON c.oid = k.conrelid
    JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE d.classid = '${oidsOfCatalogs.pg_constraint}'
      AND k.contype = 'c'
      AND c.relkind = 'r'
      AND c.relpersistence = 'p'
      AND (c.relpages > 0 OR pg_relation_size(c.oid) > 0)${version < 180_000 ? '' : ' AND k.conenforced'}
  `,
  decode: (rows) =>
    rows.map((row) => ({
      calls: decodeTextColumn(row, 'calls'),
      name: decodeTextColumn(row, 'conname'),
      table: decodeTextColumn(row, 'name'),
      schema: decodeTextColumn(row, 'nspname'),
      relation: decodeTextColumn(row, 'relname'),
      definition: decodeTextColumn(row, 'definition'),
    })),
  absent: [],
};
