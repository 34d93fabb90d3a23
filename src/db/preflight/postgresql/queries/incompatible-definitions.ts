import type { PostgresqlPreflightQuery } from '../query.ts';
import { createDatabaseFeatureCondition } from './database-overview.ts';
import { decodeVersionIncompatibleObjects, type VersionIncompatibleObject } from './incompatible-object.ts';

/**
 * Definitions that this release accepts and a later release rejects; `says` is the error message of the later release.
 */
export const versionIncompatibleDefinitionsQuery: PostgresqlPreflightQuery<readonly VersionIncompatibleObject[]> = {
  id: 'incompatible-definitions',
  scope: 'database',
  when: createDatabaseFeatureCondition('relations', 'columns', 'heirs', 'collations', 'not-null-names'),
  sql: (version) => {
    if (version < 120_000) return undefined;
    const parts = rejectedDefinitions.filter(({ since }) => since > version / 10_000);
    if (parts.length === 0) return undefined;
    return `${parts.map(({ since, rows }) => `SELECT o.*, ${since} AS since FROM (${rows}) o (object, needs, says)`).join(' UNION ALL ')} ORDER BY 1, 2`;
  },
  decode: decodeVersionIncompatibleObjects,
  absent: [],
};

const column = "'column ' || a.attrelid::regclass || '.' || quote_ident(a.attname)";

const rejectedDefinitions: readonly { readonly since: number; readonly rows: string }[] = [
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
];
