import { catalogOids, firstNormalOid, typeOids } from '../../../../postgresql/catalog-oids.ts';
import type { PostgresqlQuery } from '../query.ts';
import { isMemberSql, isNotMemberSql } from './catalog-predicates.ts';
import { featureCondition } from './database-overview.ts';
import { decodeIncompatible, type IncompatibleObject } from './incompatible-calls.ts';
import { takenNameNeed } from './taken-names.ts';

/**
 * Definitions that this release accepts and a later release rejects, or that no release accepts in the order of a dump;
 * `says` is the error message of the target.
 */
export const incompatibleDefinitionsQuery: PostgresqlQuery<readonly IncompatibleObject[]> = {
  id: 'incompatible-definitions',
  scope: 'database',
  when: featureCondition('relations', 'columns', 'heirs', 'collations', 'not-null-names', 'superuser-objects'),
  sql: (version) => {
    if (version < 120_000) return undefined;
    const parts = [
      ...rejectedDefinitions.filter(({ since }) => since > version / 10_000),
      version < 150_000 ? triggersOfOneName : differingKeyTriggers,
      ...definitionsOfNoTarget,
    ];
    return `${parts.map(({ since, rows }) => `SELECT o.*, ${since} AS since FROM (${rows}) o (object, needs, says)`).join(' UNION ALL ')} ORDER BY 1, 2`;
  },
  decode: decodeIncompatible,
  absent: [],
};

const column = "'column ' || a.attrelid::regclass || '.' || quote_ident(a.attname)";

const rejectedDefinitions: readonly { readonly since: number; readonly rows: string }[] = [
  {
    // Before PostgreSQL 15 the trigger of a partition can have another name than that of the parent. The target creates
    // it by the name of the parent; a dump switches it by its own.
    since: 15,
    rows: `
      SELECT
        'trigger ' || quote_ident(t.tgname) || ' on ' || t.tgrelid::regclass,
        'the name of the trigger of the parent',
        format('trigger "%s" for table "%s" does not exist', t.tgname, c.relname)
      FROM pg_trigger t
      JOIN pg_class c ON c.oid = t.tgrelid
      JOIN pg_depend d ON d.classid = '${catalogOids.pg_trigger}'
        AND d.objid = t.oid
        AND d.refclassid = '${catalogOids.pg_trigger}'
      JOIN pg_trigger p ON p.oid = d.refobjid
      WHERE t.tgconstraint = '0'
        AND t.tgname <> p.tgname
        AND t.tgenabled <> p.tgenabled
    `,
  },
  {
    since: 16,
    rows: `
      SELECT
        ${column},
        'a generated column in ' || i.inhparent::regclass,
        CASE
          WHEN c.relispartition
            THEN format('column "%s" in child table must not be a generated column', a.attname)
          ELSE format('child column "%s" specifies generation expression', a.attname)
        END
      FROM pg_inherits i
      JOIN pg_class c ON c.oid = i.inhrelid
      JOIN pg_attribute a ON a.attrelid = i.inhrelid AND a.attnum > 0 AND a.attgenerated <> ''
      JOIN pg_attribute p ON p.attrelid = i.inhparent AND p.attname = a.attname
      WHERE p.attgenerated = ''
    `,
  },
  {
    since: 17,
    rows: `
      SELECT
        ${column},
        'an identity of its own in a partition',
        format('table "%s" being attached contains an identity column "%s"', c.relname, a.attname)
      FROM pg_class c
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attidentity <> ''
      WHERE c.relispartition
    `,
  },
  {
    // Since PostgreSQL 17 a NOT NULL constraint of a domain has a name, which is chosen before the CHECK constraints are
    // created.
    since: 17,
    rows: `
      SELECT
        'domain ' || t.oid::regtype,
        'constraint ' || quote_ident(k.conname) || ' by another name',
        format('constraint "%s" for domain "%s" already exists', k.conname, t.typname)
      FROM pg_constraint k
      JOIN pg_type t ON t.oid = k.contypid
      WHERE t.typnotnull
        AND k.contype = 'c'
        AND k.conname::text = t.typname || '_not_null'
    `,
  },
  {
    // Since PostgreSQL 18 a NOT NULL constraint of a column has a name too. A valid CHECK constraint is created
    // together with its table and gets another name if its name is taken.
    since: 18,
    rows: `
      SELECT
        'table ' || k.conrelid::regclass,
        'constraint ' || quote_ident(k.conname) || ' by another name',
        format('constraint "%s" for relation "%s" already exists', k.conname, c.relname)
      FROM pg_constraint k
      JOIN pg_class c ON c.oid = k.conrelid
      JOIN pg_attribute a
        ON a.attrelid = c.oid
          AND a.attnum > 0
          AND a.attnotnull
          AND k.conname::text = c.relname || '_' || a.attname || '_not_null'
      WHERE k.contype IN ('p', 'u', 'x', 'f')
        OR (k.contype = 'c' AND NOT k.convalidated)
    `,
  },
  {
    since: 18,
    rows: `
      SELECT 'table ' || c.oid::regclass, 'partitions without UNLOGGED', 'partitioned tables cannot be unlogged'
      FROM pg_class c
      WHERE c.relkind = 'p' AND c.relpersistence = 'u'
    `,
  },
  {
    since: 18,
    rows: `
      SELECT DISTINCT
        'constraint ' || quote_ident(k.conname) || ' on ' || k.conrelid::regclass,
        'one collation on both sides',
        format('foreign key constraint "%s" cannot be implemented', k.conname)
      FROM pg_constraint k
      CROSS JOIN LATERAL unnest(k.conkey, k.confkey) g(here, there)
      JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = g.here
      JOIN pg_attribute b ON b.attrelid = k.confrelid AND b.attnum = g.there
      JOIN pg_collation n ON n.oid IN (a.attcollation, b.attcollation)
      WHERE k.contype = 'f'
        AND a.attcollation <> b.attcollation
        AND NOT n.collisdeterministic
    `,
  },
  {
    // Since PostgreSQL 18 bytea is converted to integers and back.
    since: 18,
    rows: `
      SELECT
        'cast (' || format_type(k.castsource, NULL) || ' AS ' || format_type(k.casttarget, NULL) || ')',
        'no cast of PostgreSQL',
        format('cast from type %s to type %s already exists', format_type(k.castsource, NULL), format_type(k.casttarget, NULL))
      FROM pg_cast k
      WHERE k.oid >= '${firstNormalOid}'
        AND '${typeOids.bytea}' IN (k.castsource, k.casttarget)
        AND (
          k.castsource IN ('${typeOids.int2}', '${typeOids.int4}', '${typeOids.int8}')
            OR k.casttarget IN ('${typeOids.int2}', '${typeOids.int4}', '${typeOids.int8}')
        )
    `,
  },
  {
    // ltree 1.3 has an operator class for hash indexes.
    since: 17,
    rows: `
      SELECT
        'operator class ' || o.opcnamespace::regnamespace || '.' || quote_ident(o.opcname),
        'no operator class of ltree',
        format('could not make operator class "%s" be default for type %s', o.opcname, format_type(t.oid, NULL))
      FROM pg_opclass o
      JOIN pg_am m ON m.oid = o.opcmethod AND m.amname = 'hash'
      JOIN pg_type t ON t.oid = o.opcintype AND t.typname = 'ltree'
      WHERE o.oid >= '${firstNormalOid}'
        AND o.opcdefault
        AND ${isMemberSql('pg_type', 't.oid')}
        AND ${isNotMemberSql('pg_opclass', 'o.oid')}
    `,
  },
];

/** Begins what a trigger of a foreign key needs whose state a dump names by a number of the source. */
export const triggerStateNeed = 'the state that the triggers of ';

/**
 * A dump switches a trigger of a partition whose state is not that of the parent's trigger. Those of foreign keys have
 * parents since PostgreSQL 15, and names with their object ids.
 */
const differingKeyTriggers = {
  since: 0,
  rows: `
    SELECT
      'trigger ' || quote_ident(t.tgname) || ' on ' || t.tgrelid::regclass,
      '${triggerStateNeed}' || p.tgrelid::regclass || ' have',
      format('trigger "%s" for table "%s" does not exist', t.tgname, c.relname)
    FROM pg_trigger t
    JOIN pg_trigger p ON p.oid = t.tgparentid
    JOIN pg_class c ON c.oid = t.tgrelid
    WHERE t.tgconstraint <> '0'
      AND t.tgname <> p.tgname
      AND t.tgenabled <> p.tgenabled
  `,
};

/** With the tables above each partition, at every level. */
const ancestorsSql = `
  (
    WITH RECURSIVE a(child, parent) AS (
      SELECT i.inhrelid, i.inhparent
      FROM pg_inherits i
      JOIN pg_class c ON c.oid = i.inhrelid
      WHERE c.relispartition
      UNION ALL
      SELECT a.child, i.inhparent
      FROM a
      JOIN pg_inherits i ON i.inhrelid = a.parent
    )
    SELECT * FROM a
  )
`;

/** Before PostgreSQL 15 a trigger can be renamed in a partitioned table alone, or in a partition. */
const triggersOfOneName = {
  since: 0,
  rows: `
    SELECT
      'trigger ' || quote_ident(t.tgname) || ' on ' || t.tgrelid::regclass,
      '${takenNameNeed}the trigger of ' || p.tgrelid::regclass || ' does not have',
      format('trigger "%s" for relation "%s" already exists', t.tgname, c.relname)
    FROM ${ancestorsSql} a
    JOIN pg_trigger t ON t.tgrelid = a.child AND NOT t.tgisinternal
    JOIN pg_trigger p
      ON p.tgrelid = a.parent
        AND NOT p.tgisinternal
        AND p.tgname = t.tgname
        AND p.tgtype & 1 = 1
    JOIN pg_class c ON c.oid = a.child
  `,
};

const definitionsOfNoTarget: readonly { readonly since: 0; readonly rows: string }[] = [
  {
    // A dump creates the foreign keys of a schema by their names, then by those of their tables. That of a partitioned
    // table is created for its partitions too, which would find their own key if they were created first.
    since: 0,
    rows: `
      SELECT
        'constraint ' || quote_ident(k.conname) || ' on ' || k.conrelid::regclass,
        '${takenNameNeed}the foreign key of ' || p.conrelid::regclass || ' does not have',
        format('constraint "%s" for relation "%s" already exists', k.conname, c.relname)
      FROM ${ancestorsSql} a
      JOIN pg_constraint k ON k.conrelid = a.child AND k.contype = 'f' AND k.conparentid = '0'
      JOIN pg_constraint p
        ON p.conrelid = a.parent
          AND p.contype = 'f'
          AND p.conparentid = '0'
          AND p.conname = k.conname
      JOIN pg_class c ON c.oid = a.child
      JOIN pg_class b ON b.oid = a.parent
      JOIN pg_namespace n ON n.oid = c.relnamespace
      JOIN pg_namespace m ON m.oid = b.relnamespace
      WHERE ROW(m.nspname, b.relname) < ROW(n.nspname, c.relname)
    `,
  },
  {
    // One parent was changed after the table was created, mostly by ALTER TABLE ONLY; a dump gives an inherited column its default
    // later.
    since: 0,
    rows: `
      SELECT
        'table ' || h.inhrelid::regclass,
        'parents that agree on ' || quote_ident(a.attname),
        CASE
          WHEN a.attstorage <> b.attstorage
            THEN format('inherited column "%s" has a storage parameter conflict', a.attname)
          WHEN a.attgenerated <> b.attgenerated
            THEN format('inherited column "%s" has a generation conflict', a.attname)
          ELSE format('column "%s" inherits conflicting default values', a.attname)
        END
      FROM pg_inherits h
      JOIN pg_inherits i ON i.inhrelid = h.inhrelid AND i.inhseqno > h.inhseqno
      JOIN pg_attribute a ON a.attrelid = h.inhparent AND a.attnum > 0 AND NOT a.attisdropped
      JOIN pg_attribute b ON b.attrelid = i.inhparent AND b.attname = a.attname
      JOIN pg_attribute c ON c.attrelid = h.inhrelid AND c.attname = a.attname
      LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
      LEFT JOIN pg_attrdef e ON e.adrelid = b.attrelid AND e.adnum = b.attnum
      WHERE a.attstorage <> b.attstorage
        OR a.attgenerated <> b.attgenerated
        OR (
          NOT c.attislocal
            AND a.attgenerated = ''
            AND pg_get_expr(d.adbin, d.adrelid) <> pg_get_expr(e.adbin, e.adrelid)
        )
    `,
  },
];
