import {
  catalogOids,
  firstNormalOid,
  firstSuperuserOid,
  schemaOids,
  tablespaceOids,
} from '../../../../postgresql/catalog-oids.ts';
import { decodeBoolean, decodeNumber, decodeText, type PostgresqlRow } from '../../../../postgresql/rows.ts';
import { column, columns, type PostgresqlQuery, type RowOf, rowsQuery } from '../query.ts';
import { isNotMemberSql, uncommonRelationSql } from './catalog-predicates.ts';
import { featureCondition } from './database-overview.ts';

/**
 * Relations other than ordinary tables with a primary key. Ordinary tables with a primary key are left out, because a
 * database may have a hundred thousand of them.
 */
export interface UnusualRelations {
  readonly unlogged: readonly string[];
  readonly foreign: readonly string[];
  /** Temporary tables of sessions, including sessions that crashed. */
  readonly temporary: readonly string[];
  readonly matviews: readonly { readonly name: string; readonly populated: boolean }[];
  readonly secured: readonly RestrictedTable[];
  /** Tables whose row-level security applies to their owner; `bypasses`: the owner is the first superuser. */
  readonly forced: readonly { readonly name: string; readonly bypasses: boolean }[];
  /** Tables and indexes outside of the tablespace pg_default; `tablespace` is an object id. */
  readonly placed: readonly { readonly name: string; readonly tablespace: string }[];
}

/** A table whose row-level security applies to this role. */
interface RestrictedTable {
  readonly name: string;
  /** Whether row-level security applies to the owner of the table too (FORCE ROW LEVEL SECURITY). */
  readonly forced: boolean;
}

/** Names are cast from regclass, because with the search_path pg_catalog the server then qualifies and quotes them. */
export const unusualRelationsQuery: PostgresqlQuery<UnusualRelations> = {
  id: 'relations',
  scope: 'database',
  when: featureCondition('relations'),
  sql: (_version, { superuser }) => `
    SELECT
      c.relkind AS kind,
      c.relpersistence AS persistence,
      c.reltablespace AS tablespace,
      c.relispopulated AS populated,
      ${rowSecuritySql(superuser)} AS secured,
      c.relforcerowsecurity AS forced,
      c.relrowsecurity AND c.relforcerowsecurity AS owner_secured,
      c.relowner = '${firstSuperuserOid}' AS bypasses,
      c.oid::regclass AS name
    FROM pg_class c
    WHERE c.oid >= '${firstNormalOid}'
      AND c.relnamespace <> '${schemaOids.pg_toast}'
      AND ${uncommonRelationSql}
  `,
  decode: (rows) => {
    const named = (matches: (row: PostgresqlRow) => boolean) =>
      rows.filter(matches).map((row) => decodeText(row, 'name'));
    const isTable = ({ kind }: PostgresqlRow) => kind === 'r' || kind === 'p';
    const isLasting = ({ persistence }: PostgresqlRow) => persistence !== 't';
    return {
      unlogged: named(({ kind, persistence }) => kind === 'r' && persistence === 'u'),
      foreign: named(({ kind }) => kind === 'f'),
      temporary: named((row) => isTable(row) && !isLasting(row)),
      matviews: rows
        .filter(({ kind }) => kind === 'm')
        .map((row) => ({ name: decodeText(row, 'name'), populated: decodeBoolean(row, 'populated') })),
      secured: rows
        .filter((row) => decodeBoolean(row, 'secured') && isLasting(row))
        .map((row) => ({ name: decodeText(row, 'name'), forced: decodeBoolean(row, 'forced') })),
      forced: rows
        .filter((row) => row.kind === 'r' && isLasting(row) && decodeBoolean(row, 'owner_secured'))
        .map((row) => ({ name: decodeText(row, 'name'), bypasses: decodeBoolean(row, 'bypasses') })),
      placed: rows
        .filter((row) => ![0, tablespaceOids.pg_default].includes(decodeNumber(row, 'tablespace')) && isLasting(row))
        .map((row) => ({ name: decodeText(row, 'name'), tablespace: decodeText(row, 'tablespace') })),
    };
  },
  absent: {
    unlogged: [],
    foreign: [],
    temporary: [],
    matviews: [],
    secured: [],
    forced: [],
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

export interface GeneratedColumns {
  readonly generated: readonly GeneratedColumn[];
  /** Names as `table.column`. */
  readonly identity: readonly string[];
}

interface GeneratedColumn {
  readonly table: string;
  readonly column: string;
  /** Whether the column is computed when it is read (since PostgreSQL 18). */
  readonly virtual: boolean;
  /** Whether the target gives the inherited column the expression of a parent, which differs from that of the column. */
  readonly isReplaced: boolean;
}

/**
 * In pg_depend, the sequence of an identity column has an internal dependency (deptype `i`) on the column. Since
 * PostgreSQL 15 the default of a generated column has one too, so one index range finds both. Before PostgreSQL 15 the
 * query must read every attribute.
 */
export const generatedColumnsQuery: PostgresqlQuery<GeneratedColumns> = {
  id: 'generated-columns',
  scope: 'database',
  when: featureCondition('columns'),
  sql: (version) => {
    if (version < 100_000) return undefined;
    if (version < 120_000)
      return `
         ${selected('false')}
        FROM pg_attribute a
        WHERE a.attidentity <> ''
          AND a.attrelid >= '${firstNormalOid}'
      `;
    const kind = 'a.attgenerated';
    if (version < 150_000) {
      return `
         ${selected(kind)}
        FROM pg_attribute a
        WHERE (a.attgenerated <> '' OR a.attidentity <> '')
          AND NOT a.attisdropped
          AND a.attrelid >= '${firstNormalOid}'
      `;
    }
    return `
       ${selected(kind, version < 170_000 ? 'false' : replacedExpressionSql)}
      FROM pg_depend d
      JOIN pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
      WHERE d.refclassid = '${catalogOids.pg_class}'
        AND d.refobjid >= '${firstNormalOid}'
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
          table: decodeText(row, 'name'),
          column: decodeText(row, 'attname'),
          virtual: row.generated === 'v',
          isReplaced: decodeBoolean(row, 'replaced'),
        })),
      identity: rows
        .filter(({ generated }) => !isGenerated(generated))
        .map((row) => `${decodeText(row, 'name')}.${decodeText(row, 'attname')}`),
    };
  },
  absent: { generated: [], identity: [] },
};

function selected(generated: string, replaced = 'false'): string {
  return `SELECT a.attrelid::regclass AS name, a.attname, ${generated} AS generated, ${replaced} AS replaced`;
}

/**
 * ALTER COLUMN … SET EXPRESSION (since PostgreSQL 17) can change one of parent and child. A dump writes the expression of
 * a column only where it writes the column, which it leaves out if the child did not define it.
 */
const replacedExpressionSql = `
  a.attgenerated <> '' AND NOT a.attislocal AND EXISTS (
    SELECT FROM pg_inherits i
    JOIN pg_class c ON c.oid = i.inhrelid
    JOIN pg_attribute p ON p.attrelid = i.inhparent AND p.attname = a.attname
    JOIN pg_attrdef d ON d.adrelid = p.attrelid AND d.adnum = p.attnum
    JOIN pg_attrdef e ON e.adrelid = a.attrelid AND e.adnum = a.attnum
    WHERE i.inhrelid = a.attrelid
      AND NOT c.relispartition
      AND pg_get_expr(d.adbin, d.adrelid) <> pg_get_expr(e.adbin, e.adrelid)
  )
`;

/**
 * Triggers that fire when a subscription on the target applies changes. Applied changes fire row triggers, and the initial copy fires statement triggers of INSERT. Triggers on foreign
 * tables do not fire, because no changes are applied to them. Bits of pg_trigger.tgtype: 1 FOR EACH ROW, 2 BEFORE, 4
 * INSERT, 8 DELETE, 16 UPDATE, 32 TRUNCATE, 64 INSTEAD OF. In a BEFORE DELETE trigger NEW is NULL, so a trigger function that returns
 * NEW cancels the DELETE. suppress_redundant_updates_trigger leaves out only updates that change nothing.
 */
export const applyTriggersQuery = rowsQuery({
  id: 'apply-triggers',
  scope: 'database',
  when: featureCondition('always-triggers'),
  sql: () => `
    SELECT
      t.tgrelid::regclass AS name,
      t.tgname,
      t.tgenabled = 'A' AS always,
      c.relpersistence = 'u' AS unlogged,
      CASE
        WHEN t.tgtype & 66 = 0 AND p.prosrc ~* '${givesAny}' THEN false
        WHEN p.prosrc = 'suppress_redundant_updates_trigger' AND p.oid < '${firstNormalOid}' THEN false
        ELSE p.prosrc !~* '${givesBack}'
          OR (
            t.tgtype & 3 = 3
              AND (
                (t.tgtype & 4 <> 0 AND p.prosrc ~* 'old')
                  OR (
                    t.tgenabled = 'R'
                      AND ((t.tgtype & 8 <> 0 AND p.prosrc ~* 'new') OR (t.tgtype & 16 <> 0 AND p.prosrc ~* 'old'))
                  )
              )
          )
      END AS acts
    FROM pg_trigger t
    JOIN pg_proc p ON p.oid = t.tgfoid
    JOIN pg_class c ON c.oid = t.tgrelid
    WHERE (t.tgenabled = 'A' OR t.tgenabled = 'R')
      AND NOT t.tgisinternal
      AND (c.relkind = 'r' OR c.relkind = 'p')
      AND c.relpersistence <> 't'
      AND (t.tgtype & 1 <> 0 OR t.tgtype & 36 <> 0)
  `,
  row: columns({
    table: column.text('name'),
    name: column.text('tgname'),
    /**
     * Whether the trigger is enabled with ENABLE ALWAYS. If false, it is enabled with ENABLE REPLICA and does not fire in
     * sessions of applications.
     */
    always: column.boolean('always'),
    /** Whether the trigger function does more than return the row. */
    acts: column.boolean('acts'),
    /** Whether the table of the trigger is unlogged, so that no changes are applied to it. */
    unlogged: column.boolean('unlogged'),
  }),
});

/** An AFTER trigger may return anything. */
const givesAny = '^[[:space:]]*begin[[:space:]]+return[[:space:]]+(new|old|null)[^a-z0-9_"]*end[^a-z0-9_"]*$';

/** The pattern contains no backslash, whose meaning depends on standard_conforming_strings. */
const givesBack = '^[[:space:]]*begin[[:space:]]+return[[:space:]]+(new|old)[^a-z0-9_"]*end[^a-z0-9_"]*$';

export type EventTrigger = RowOf<typeof eventTriggersQuery>;

/** Event triggers of extensions are left out, because CREATE EXTENSION creates them on the target as well. */
export const eventTriggersQuery = rowsQuery({
  id: 'event-triggers',
  scope: 'database',
  when: featureCondition('functions'),
  sql: () => `
    SELECT
      e.evtname,
      CASE
        WHEN e.evtenabled IN ('O', 'A')
            AND left(e.evtevent::text, 12) = 'ddl_command_'
            AND (e.evttags IS NULL OR e.evttags && '{CREATE PUBLICATION,CREATE SUBSCRIPTION}')
            AND l.lanname = 'plpgsql'
          THEN p.prosrc
      END AS body,
      CASE WHEN e.evtenabled IN ('O', 'A') AND e.evtevent = 'login' THEN p.prosrc END AS at_login
    FROM pg_event_trigger e
    JOIN pg_proc p ON p.oid = e.evtfoid
    JOIN pg_language l ON l.oid = p.prolang
    WHERE ${isNotMemberSql('pg_event_trigger', 'e.oid')}
    ORDER BY 1
  `,
  row: columns({
    name: column.text('evtname'),
    /**
     * The body of the trigger function, if it is in PL/pgSQL and the trigger fires for CREATE PUBLICATION or CREATE
     * SUBSCRIPTION.
     */
    body: column.optionalText('body'),
    /** The body of the trigger function, if the trigger fires at login. */
    atLogin: column.optionalText('at_login'),
  }),
});
