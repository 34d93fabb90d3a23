import { catalogOid } from '../../../postgresql/catalog-oids.ts';
import type { PostgresqlQuery } from '../query.ts';
import { whenPresent } from './database-overview.ts';
import { decodeBoolean, decodeText } from './decode.ts';
import { functionDependentsCte } from './function-dependents.ts';
import { functionUsesSql } from './function-uses-sql.ts';

import { grantMonitorRole } from './grants.ts';

/** Something that calls a function of earthdistance for each row. */
export interface EarthdistanceUse {
  /** `index i on public.t`. */
  readonly name: string;
  /** Made with the schema, or called for rows that are there. */
  readonly needed: boolean;
}

/** Of its functions earth() alone calls no other; its domain calls nothing else. */
const ofEarthdistance = `
  EXISTS (
    SELECT FROM pg_depend e
    JOIN pg_extension x ON x.oid = e.refobjid
    JOIN pg_proc p ON p.oid = e.objid
    WHERE e.classid = '${catalogOid.pg_proc}'
      AND e.objid = d.refobjid
      AND e.refclassid = '${catalogOid.pg_extension}'
      AND e.deptype = 'e'
      AND x.extname = 'earthdistance'
      AND p.proname <> 'earth'
  )
`;

export const earthdistanceUsesQuery: PostgresqlQuery<readonly EarthdistanceUse[]> = {
  id: 'earth-uses',
  scope: 'database',
  when: whenPresent('called-functions'),
  sql: (version) => `
     ${functionDependentsCte(ofEarthdistance)}
    SELECT u.name, u.filled OR u.kind IN ('index', 'unique', 'generated', 'partition') AS needed
    FROM (${functionUsesSql(version)}) u
  `,
  decode: (rows) => rows.map((row) => ({ name: decodeText(row, 'name'), needed: decodeBoolean(row, 'needed') })),
  absent: [],
  grant: grantMonitorRole,
};
