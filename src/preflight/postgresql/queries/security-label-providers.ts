import { decodeTextColumn } from '../../../postgresql/decode-row.ts';
import type { PostgresqlPreflightQuery } from '../query.ts';
import { createDatabaseFeatureCondition } from './database-overview.ts';

/** A security label provider: a library of the server, which a dump does not contain. */
export interface SecurityLabelProvider {
  readonly provider: string;
  /** One labelled object: `table public.people`. */
  readonly object: string;
}

export const securityLabelProvidersQuery: PostgresqlPreflightQuery<readonly SecurityLabelProvider[]> = {
  id: 'security-label-providers',
  scope: 'database',
  when: createDatabaseFeatureCondition('labels'),
  sql: () => `
    SELECT l.provider, min(pg_describe_object(l.classoid, l.objoid, l.objsubid)) AS object
    FROM pg_seclabel l
    GROUP BY 1
    ORDER BY 1
  `,
  decode: (rows) =>
    rows.map((row) => ({ provider: decodeTextColumn(row, 'provider'), object: decodeTextColumn(row, 'object') })),
  absent: [],
};
