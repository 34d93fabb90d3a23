import { builtinSchemaOids } from '../../../../postgresql/catalog-oids.ts';
import { decodeTextColumn } from '../../../../postgresql/decode-row.ts';
import type { PostgresqlPreflightQuery } from '../query.ts';
import { createDatabaseFeatureCondition } from './database-overview.ts';
import { isUserSqlOrPlpgsqlFunctionSql, userFunctionDependentsCte } from './function-dependents.ts';
/** An object outside of pg_catalog to which a name in a function body may refer. */
export interface ObjectNamedInFunctionBody {
  readonly kind: 'relation' | 'function' | 'type' | 'text search configuration' | 'text search dictionary';
  readonly schema: string;
  readonly name: string;
}

/**
 * Returns the objects whose names occur in function bodies. All objects whose names need quotes are returned, because
 * such a name may consist of several words.
 */
export const objectsNamedInFunctionBodiesQuery: PostgresqlPreflightQuery<readonly ObjectNamedInFunctionBody[]> = {
  id: 'named-objects',
  scope: 'database',
  when: createDatabaseFeatureCondition('called-functions'),
  sql: () => `
     ${userFunctionDependentsCte}, w AS (
      SELECT DISTINCT regexp_split_to_table(lower(p.prosrc), '[^[:alnum:]_$]+') AS word
      FROM pg_proc p
      JOIN pg_language l ON l.oid = p.prolang
      WHERE ${isUserSqlOrPlpgsqlFunctionSql}
    ), m AS (
      SELECT 'relation' AS kind, c.relnamespace AS home, c.relname::text AS name
      FROM pg_class c
      WHERE EXISTS (SELECT FROM d)
        AND c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S')
        AND c.relpersistence <> 't'
      UNION ALL
      SELECT 'function', p.pronamespace, p.proname::text
      FROM pg_proc p
      WHERE EXISTS (SELECT FROM d)
      UNION ALL
      SELECT 'type', t.typnamespace, t.typname::text
      FROM pg_type t
      WHERE EXISTS (SELECT FROM d)
        AND t.typcategory <> 'A'
        AND (t.typrelid = '0' OR EXISTS (SELECT FROM pg_class c WHERE c.oid = t.typrelid AND c.relkind = 'c'))
      UNION ALL
      SELECT 'text search configuration', s.cfgnamespace, s.cfgname::text
      FROM pg_ts_config s
      WHERE EXISTS (SELECT FROM d)
      UNION ALL
      SELECT 'text search dictionary', s.dictnamespace, s.dictname::text
      FROM pg_ts_dict s
      WHERE EXISTS (SELECT FROM d)
    )
    SELECT DISTINCT m.kind, n.nspname, m.name
    FROM m
    JOIN pg_namespace n ON n.oid = m.home
    WHERE n.nspname <> 'information_schema'
      AND left(n.nspname::text, 3) <> 'pg_'
      AND (m.name IN (SELECT word FROM w) OR (m.name !~ '^[a-z_][a-z0-9_$]*$' AND EXISTS (SELECT FROM w)))
      AND NOT EXISTS (
        SELECT FROM m s
        WHERE s.home = '${builtinSchemaOids.pg_catalog}'
          AND s.kind = m.kind
          AND s.name = m.name
      )
  `,
  decode: (rows) =>
    rows.map((row) => ({
      kind: namedObjectKinds.find((one) => one === row.kind) ?? 'relation',
      schema: decodeTextColumn(row, 'nspname'),
      name: decodeTextColumn(row, 'name'),
    })),
  absent: [],
};

const namedObjectKinds: readonly ObjectNamedInFunctionBody['kind'][] = [
  'function',
  'type',
  'text search configuration',
  'text search dictionary',
];
