import { firstNormalObjectId, oidsOfCatalogs } from '../../../../postgresql/catalog-oids.ts';
import { decodeTextColumn } from '../../../../postgresql/decode-row.ts';
import type { PostgresqlPreflightQuery } from '../query.ts';
import { createDatabaseFeatureCondition } from './database-overview.ts';

export interface GeneratedAndIdentityColumns {
  readonly generated: readonly GeneratedColumn[];
  /** Names as `table.column`. */
  readonly identity: readonly string[];
}

interface GeneratedColumn {
  readonly table: string;
  readonly column: string;
  /** Whether the column is computed when it is read (since PostgreSQL 18). */
  readonly virtual: boolean;
}

/** See `tableHasGeneratedColumnsSql` for the dependencies that the query reads. */
export const generatedColumnsQuery: PostgresqlPreflightQuery<GeneratedAndIdentityColumns> = {
  id: 'generated-columns',
  scope: 'database',
  when: createDatabaseFeatureCondition('columns'),
  sql: (version) => {
    if (version < 100_000) return undefined;
    if (version < 120_000)
      return `
         ${selected('false')}
        FROM pg_attribute a
        WHERE a.attidentity <> ''
          AND a.attrelid >= '${firstNormalObjectId}'
      `;
    const kind = 'a.attgenerated';
    if (version < 150_000) {
      return `
         ${selected(kind)}
        FROM pg_attribute a
        WHERE (a.attgenerated <> '' OR a.attidentity <> '')
          AND NOT a.attisdropped
          AND a.attrelid >= '${firstNormalObjectId}'
      `;
    }
    return `
       ${selected(kind)}
      FROM pg_depend d
      JOIN pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
      WHERE d.refclassid = '${oidsOfCatalogs.pg_class}'
        AND d.refobjid >= '${firstNormalObjectId}'
        AND d.deptype = 'i'
        AND d.refobjsubid > '0'
        AND (a.attgenerated <> '' OR a.attidentity <> '')
    `;
  },
  decode: (rows) => {
    const isGenerated = (kind: string | null | undefined) => kind === 's' || kind === 'v';
    return {
      generated: rows
        .filter(({ generated }) => isGenerated(generated))
        .map((row) => ({
          table: decodeTextColumn(row, 'name'),
          column: decodeTextColumn(row, 'attname'),
          virtual: row.generated === 'v',
        })),
      identity: rows
        .filter(({ generated }) => !isGenerated(generated))
        .map((row) => `${decodeTextColumn(row, 'name')}.${decodeTextColumn(row, 'attname')}`),
    };
  },
  absent: { generated: [], identity: [] },
};

function selected(generated: string): string {
  return `SELECT a.attrelid::regclass AS name, a.attname, ${generated} AS generated`;
}
