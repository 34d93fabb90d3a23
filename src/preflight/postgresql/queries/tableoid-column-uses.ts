import { firstNormalObjectId } from '../../../postgresql/catalog-oids.ts';
import { decodeTextColumn } from '../../../postgresql/decode-row.ts';
import type { PostgresqlPreflightQuery } from '../query.ts';
import { buildOidDependenceNodeTreePattern } from './catalog-predicates.ts';
import { createDatabaseFeatureCondition } from './database-overview.ts';

/**
 * An expression with the system column tableoid, which has another value on the target. Expressions of indexes and
 * partition keys cannot contain tableoid.
 */
export interface TableoidColumnUse {
  readonly kind: 'generated' | 'check';
  /** The object with the expression: `column public.t.g`, `c on public.t`. */
  readonly name: string;
  /** The expression or constraint, as the server prints it. */
  readonly definition: string;
}

export const tableoidColumnUsesQuery: PostgresqlPreflightQuery<readonly TableoidColumnUse[]> = {
  id: 'table-oid-uses',
  scope: 'database',
  when: createDatabaseFeatureCondition('columns', 'odd-constraints'),
  sql: (version) => {
    const pattern = buildOidDependenceNodeTreePattern(version);
    const checks = `
        SELECT
          'check' AS kind,
          quote_ident(k.conname) || ' on ' || k.conrelid::regclass AS name,
          pg_get_constraintdef(k.oid) AS definition
        FROM pg_constraint k
        WHERE k.oid >= '${firstNormalObjectId}'
          AND k.contype = 'c'
          AND k.conrelid <> '0'
          AND k.conbin::text ~ '${pattern}'${version < 180_000 ? '' : ' AND k.conenforced'}
      `;
    if (version < 120_000) return checks;
    return `${checks} UNION ALL
      SELECT
        'generated',
        'column ' || a.attrelid::regclass || '.' || quote_ident(a.attname),
        pg_get_expr(f.adbin, f.adrelid)
      FROM pg_attrdef f
      JOIN pg_attribute a ON a.attrelid = f.adrelid AND a.attnum = f.adnum
      WHERE a.attrelid >= '${firstNormalObjectId}'
        AND a.attgenerated <> ''
        AND f.adbin::text ~ '${pattern}'
    `;
  },
  decode: (rows) =>
    rows.map((row) => ({
      kind: row.kind === 'generated' ? 'generated' : 'check',
      name: decodeTextColumn(row, 'name'),
      definition: decodeTextColumn(row, 'definition'),
    })),
  absent: [],
};
