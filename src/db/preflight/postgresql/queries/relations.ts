import { builtinSchemaOids, builtinTablespaceOids, firstNormalObjectId } from '../../../../postgresql/catalog-oids.ts';
import { decodeBooleanColumn, decodeNumberColumnOrZero, decodeTextColumn } from '../../../../postgresql/decode-row.ts';
import type { PostgresqlRow } from '../../../../postgresql/postgresql-row.ts';
import type { PostgresqlPreflightQuery } from '../query.ts';
import { hasUncommonRelationFeatureSql } from './catalog-predicates.ts';
import { createDatabaseFeatureCondition } from './database-overview.ts';

/**
 * Relations other than ordinary tables with a primary key. Ordinary tables with a primary key are left out, because a
 * database may have a hundred thousand of them.
 */
export interface RelationsWithUnusualProperties {
  readonly unlogged: readonly string[];
  readonly foreign: readonly string[];
  /** Temporary tables of sessions, including sessions that crashed. */
  readonly temporary: readonly string[];
  readonly matviews: readonly { readonly name: string; readonly populated: boolean }[];
  readonly secured: readonly RowSecurityRestrictedTable[];
  /** Tables and indexes outside of the tablespace pg_default; `tablespace` is an object id. */
  readonly placed: readonly { readonly name: string; readonly tablespace: string }[];
}

/** A table whose row-level security applies to this role. */
interface RowSecurityRestrictedTable {
  readonly name: string;
  /** Whether row-level security applies to the owner of the table too (FORCE ROW LEVEL SECURITY). */
  readonly forced: boolean;
}

/** Names are cast from regclass, because with the search_path pg_catalog the server then qualifies and quotes them. */
export const relationsWithUnusualPropertiesQuery: PostgresqlPreflightQuery<RelationsWithUnusualProperties> = {
  id: 'relations',
  scope: 'database',
  when: createDatabaseFeatureCondition('relations'),
  sql: (_version, { superuser }) => `
    SELECT
      c.relkind AS kind,
      c.relpersistence AS persistence,
      c.reltablespace AS tablespace,
      c.relispopulated AS populated,
      ${rowSecuritySql(superuser)} AS secured,
      c.relforcerowsecurity AS forced,
      c.oid::regclass AS name
    FROM pg_class c
    WHERE c.oid >= '${firstNormalObjectId}'
      AND c.relnamespace <> '${builtinSchemaOids.pg_toast}'
      AND ${hasUncommonRelationFeatureSql}
  `,
  decode: (rows) => {
    const named = (matches: (row: PostgresqlRow) => boolean) =>
      rows.filter(matches).map((row) => decodeTextColumn(row, 'name'));
    const isTable = ({ kind }: PostgresqlRow) => kind === 'r' || kind === 'p';
    const isLasting = ({ persistence }: PostgresqlRow) => persistence !== 't';
    return {
      unlogged: named(({ kind, persistence }) => kind === 'r' && persistence === 'u'),
      foreign: named(({ kind }) => kind === 'f'),
      temporary: named((row) => isTable(row) && !isLasting(row)),
      matviews: rows
        .filter(({ kind }) => kind === 'm')
        .map((row) => ({ name: decodeTextColumn(row, 'name'), populated: decodeBooleanColumn(row, 'populated') })),
      secured: rows
        .filter((row) => decodeBooleanColumn(row, 'secured') && isLasting(row))
        .map((row) => ({ name: decodeTextColumn(row, 'name'), forced: decodeBooleanColumn(row, 'forced') })),
      placed: rows
        .filter(
          (row) =>
            ![0, builtinTablespaceOids.pg_default].includes(decodeNumberColumnOrZero(row, 'tablespace')) &&
            isLasting(row),
        )
        .map((row) => ({ name: decodeTextColumn(row, 'name'), tablespace: decodeTextColumn(row, 'tablespace') })),
    };
  },
  absent: {
    unlogged: [],
    foreign: [],
    temporary: [],
    matviews: [],
    secured: [],
    placed: [],
  },
};

/** Row-level security does not apply to superusers. */
function rowSecuritySql(superuser: boolean): string {
  return superuser
    ? 'false'
    : `
      CASE WHEN c.relrowsecurity AND (c.relkind = 'r' OR c.relkind = 'p') THEN row_security_active(c.oid) END
    `;
}
