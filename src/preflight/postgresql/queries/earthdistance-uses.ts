import { oidsOfCatalogs } from '../../../postgresql/catalog-oids.ts';
import { decodeBooleanColumn, decodeTextColumn } from '../../../postgresql/decode-row.ts';
import type { PostgresqlPreflightQuery } from '../query.ts';
import { createDatabaseFeatureCondition } from './database-overview.ts';
import { functionDependentsCte } from './function-dependents.ts';
import { buildUserFunctionUsesSql } from './function-uses-sql.ts';

/** An object that calls a function of the extension earthdistance for rows. */
export interface EarthdistanceUse {
  /** The calling object, such as `index i on public.t`. */
  readonly name: string;
  /** Whether the function is called while the schema is created, or for existing rows. */
  readonly needed: boolean;
}

/** earth() is the only function of the extension that calls no other one; the domain earth calls only earth(). */
const ofEarthdistance = `
  EXISTS (
    SELECT FROM pg_depend e
    JOIN pg_extension x ON x.oid = e.refobjid
    JOIN pg_proc p ON p.oid = e.objid
    WHERE e.classid = '${oidsOfCatalogs.pg_proc}'
      AND e.objid = d.refobjid
      AND e.refclassid = '${oidsOfCatalogs.pg_extension}'
      AND e.deptype = 'e'
      AND x.extname = 'earthdistance'
      AND p.proname <> 'earth'
  )
`;

export const earthdistanceUsesQuery: PostgresqlPreflightQuery<readonly EarthdistanceUse[]> = {
  id: 'earthdistance-uses',
  scope: 'database',
  when: createDatabaseFeatureCondition('called-functions'),
  sql: (version) => `
     ${functionDependentsCte(ofEarthdistance)}
    SELECT u.name, u.filled OR u.kind IN ('index', 'unique', 'generated', 'partition') AS needed
    FROM (${buildUserFunctionUsesSql(version)}) u
  `,
  decode: (rows) =>
    rows.map((row) => ({ name: decodeTextColumn(row, 'name'), needed: decodeBooleanColumn(row, 'needed') })),
  absent: [],
};
