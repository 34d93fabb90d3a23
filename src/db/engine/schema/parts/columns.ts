import { collateClause, sequenceOptions, storageParameters, type Versions } from '../object.ts';

/** Columns of the relation `c`, as `a`. A partition defines all its columns, an inheriting table only its local ones. */
const columnsSource = `pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped`;
const isOwnColumn = `(c.relispartition OR a.attislocal)`;

/** Column list of CREATE TABLE. */
export function columnDefinitions(versions: Versions): string {
  return `(SELECT string_agg(format('%I %s%s%s%s', a.attname, format_type(a.atttypid, a.atttypmod),
      ${collateClause('a.attcollation', 'a.atttypid')}, ${generatedClause(versions)}, ${notNullClause(versions)}), ', ' ORDER BY a.attnum)
    FROM ${columnsSource} AND ${isOwnColumn})`;
}

/** Before PostgreSQL 16 a child table could not repeat the generation expression of its parent. */
function generatedClause({ to }: Versions): string {
  const inherited = to < 160_000 ? ' AND (c.relispartition OR a.attinhcount = 0)' : '';
  return `CASE WHEN a.attgenerated <> ''${inherited} THEN (SELECT format(' GENERATED ALWAYS AS (%s) %s',
      pg_get_expr(d.adbin, d.adrelid), CASE a.attgenerated WHEN 's' THEN 'STORED' ELSE 'VIRTUAL' END)
    FROM pg_attrdef d WHERE d.adrelid = c.oid AND d.adnum = a.attnum) ELSE '' END`;
}

function notNullClause({ from, to }: Versions): string {
  if (from >= 180_000) {
    return `coalesce((SELECT format(' CONSTRAINT %I NOT NULL%s', k.conname,
        CASE WHEN k.connoinherit THEN ' NO INHERIT' ELSE '' END)
      FROM pg_constraint k WHERE k.conrelid = c.oid AND k.contype = 'n' AND k.conkey = ARRAY[a.attnum]
        AND k.convalidated AND (k.conislocal OR c.relispartition)), '')`;
  }
  if (to < 180_000) return `CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END`;
  // From PostgreSQL 18 on, NOT NULL is a named constraint, and another constraint can already have its default name.
  const usual = `c.relname || '_' || a.attname || '_not_null'`;
  return `CASE WHEN NOT a.attnotnull THEN ''
    WHEN EXISTS (SELECT FROM pg_constraint k WHERE k.conrelid = c.oid AND k.conname = left(${usual}, 63))
      THEN format(' CONSTRAINT %I NOT NULL', left(c.relname || '_' || a.attname, 40) || '_not_null_of_column')
    ELSE ' NOT NULL' END`;
}

/**
 * NOT NULL constraints that CREATE TABLE cannot contain: on inherited columns of a child table alone, and NOT VALID ones.
 */
export function notNullStatements({ from }: Versions): string {
  if (from >= 180_000) {
    return `ARRAY(SELECT format('ALTER TABLE ONLY %I.%I ADD CONSTRAINT %I %s', n.nspname, c.relname, k.conname,
        pg_get_constraintdef(k.oid))
      FROM pg_constraint k JOIN pg_attribute a ON a.attrelid = c.oid AND k.conkey = ARRAY[a.attnum]
      WHERE k.conrelid = c.oid AND k.contype = 'n' AND NOT c.relispartition
        AND (NOT k.convalidated OR NOT a.attislocal) AND k.coninhcount = 0 ORDER BY a.attnum)`;
  }
  return `ARRAY(SELECT format('ALTER TABLE ONLY %I.%I ALTER COLUMN %I SET NOT NULL', n.nspname, c.relname, a.attname)
    FROM ${columnsSource} AND NOT ${isOwnColumn} AND a.attnotnull AND NOT EXISTS (SELECT FROM pg_inherits i
      JOIN pg_attribute p ON p.attrelid = i.inhparent AND p.attname = a.attname AND p.attnotnull
      WHERE i.inhrelid = c.oid) ORDER BY a.attnum)`;
}

/** Identity columns with their sequence. From PostgreSQL 17 on, partitions share the identity of their parent. */
export function identityStatements(): string {
  return `ARRAY(SELECT format('ALTER TABLE %I.%I ALTER COLUMN %I ADD GENERATED %s AS IDENTITY (SEQUENCE NAME %I.%I %s)',
      n.nspname, c.relname, a.attname, CASE a.attidentity WHEN 'a' THEN 'ALWAYS' ELSE 'BY DEFAULT' END,
      sn.nspname, sc.relname, ${sequenceOptions})
    FROM pg_depend d JOIN pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
    JOIN pg_sequence s ON s.seqrelid = d.objid JOIN pg_class sc ON sc.oid = s.seqrelid
    JOIN pg_namespace sn ON sn.oid = sc.relnamespace
    WHERE d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_class'::regclass AND d.deptype = 'i'
      AND d.refobjid = c.oid AND a.attidentity <> '' ORDER BY a.attnum)`;
}

/** Storage, compression, statistics target and options that differ from the defaults. */
export function columnSettings({ from }: Versions): string {
  const settings = [
    `CASE WHEN a.attstorage <> t.typstorage THEN 'SET STORAGE ' || CASE a.attstorage
      WHEN 'p' THEN 'PLAIN' WHEN 'e' THEN 'EXTERNAL' WHEN 'x' THEN 'EXTENDED' ELSE 'MAIN' END END`,
    `CASE WHEN a.attstattarget >= 0 THEN 'SET STATISTICS ' || a.attstattarget END`,
    `'SET (' || ${storageParameters('a.attoptions')} || ')'`,
    ...(from >= 140_000
      ? [`CASE a.attcompression WHEN 'l' THEN 'SET COMPRESSION lz4' WHEN 'p' THEN 'SET COMPRESSION pglz' END`]
      : []),
  ];
  return `ARRAY(SELECT format('ALTER TABLE ONLY %I.%I ALTER COLUMN %I %s', n.nspname, c.relname, a.attname, said.what)
    FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
    CROSS JOIN LATERAL unnest(ARRAY[${settings.join(', ')}]) AS said(what)
    WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND said.what IS NOT NULL ORDER BY a.attnum)`;
}
