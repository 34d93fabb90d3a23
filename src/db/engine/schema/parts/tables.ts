import {
  collateClause,
  joinArrays,
  type ObjectQuery,
  sequenceOptions,
  storageParameters,
  textArray,
  userRelations,
  type Versions,
} from '../object.ts';

/**
 * A table with its columns. A partition is created alone and then attached, so that it keeps its column order. Defaults,
 * checks, keys and indexes are separate parts, because their functions may need the table.
 */
export const tablesQuery: ObjectQuery = {
  kind: 'table',
  sql: (versions) => `SELECT 'pg_class:' || c.oid AS id, format('table %s.%s', n.nspname, c.relname) AS name,
      (SELECT array_agg('pg_class:' || i.inhparent) FROM pg_inherits i WHERE i.inhrelid = c.oid) AS depends_on,
      ${joinArrays(
        `ARRAY[${createTable(versions)}, ${attachPartition}, ${typedTable}, ${toastOptions}]`,
        identityStatements(),
        notNullStatements(versions),
      )} AS statements
    FROM ${userRelations('rp')}`,
};

/**
 * Statements for column settings, which run after all tables are created: child tables would otherwise inherit the settings.
 */
export const columnSettingsQuery: ObjectQuery = {
  kind: 'setting',
  sql: (versions) => `SELECT 'columns:' || c.oid AS id, format('columns of %s.%s', n.nspname, c.relname) AS name,
      (SELECT array_agg(need) FROM (SELECT 'pg_class:' || c.oid UNION ALL
        SELECT 'pg_class:' || inhrelid FROM pg_inherits WHERE inhparent = c.oid) AS x(need)) AS depends_on,
      ${joinArrays(columnSettings(versions))} AS statements
    FROM ${userRelations('rpm')}`,
};

function createTable(versions: Versions): string {
  // From PostgreSQL 18 on, a partitioned table cannot be UNLOGGED.
  const unlogged = `c.relpersistence = 'u'${versions.to >= 180_000 ? ` AND c.relkind <> 'p'` : ''}`;
  return `format('CREATE %sTABLE %I.%I (%s)%s%s%s%s', CASE WHEN ${unlogged} THEN 'UNLOGGED ' ELSE '' END,
    n.nspname, c.relname, ${columnDefinitions(versions)}, ${inheritsClause},
    CASE c.relkind WHEN 'p' THEN ' PARTITION BY ' || pg_get_partkeydef(c.oid) ELSE '' END,
    coalesce((SELECT format(' USING %I', m.amname) FROM pg_am m WHERE m.oid = c.relam AND m.amname <> 'heap'), ''),
    coalesce(' WITH (' || ${storageParameters('c.reloptions')} || ')', ''))`;
}

const inheritsClause = `CASE WHEN c.relispartition THEN '' ELSE coalesce((SELECT format(' INHERITS (%s)',
    string_agg(format('%I.%I', pn.nspname, p.relname), ', ' ORDER BY i.inhseqno))
  FROM pg_inherits i JOIN pg_class p ON p.oid = i.inhparent JOIN pg_namespace pn ON pn.oid = p.relnamespace
  WHERE i.inhrelid = c.oid HAVING count(*) > 0), '') END`;

const attachPartition = `CASE WHEN c.relispartition THEN (SELECT format('ALTER TABLE ONLY %I.%I ATTACH PARTITION %I.%I %s',
    pn.nspname, p.relname, n.nspname, c.relname, pg_get_expr(c.relpartbound, c.oid))
  FROM pg_inherits i JOIN pg_class p ON p.oid = i.inhparent JOIN pg_namespace pn ON pn.oid = p.relnamespace
  WHERE i.inhrelid = c.oid) END`;

const typedTable = `CASE WHEN c.reloftype <> 0 THEN
  format('ALTER TABLE ONLY %I.%I OF %s', n.nspname, c.relname, format_type(c.reloftype, NULL)) END`;

const toastOptions = `(SELECT format('ALTER TABLE ONLY %I.%I SET (%s)', n.nspname, c.relname,
  ${storageParameters('toast.reloptions', 'toast.')}) FROM pg_class toast
  WHERE toast.oid = c.reltoastrelid AND toast.reloptions IS NOT NULL)`;

/** Columns of the relation `c`, as `a`. A partition defines all its columns, an inheriting table only its local ones. */
const columnsSource = `pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped`;
const isOwnColumn = `(c.relispartition OR a.attislocal)`;

/** Column list of CREATE TABLE. */
function columnDefinitions(versions: Versions): string {
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
function notNullStatements({ from }: Versions): string {
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
function identityStatements(): string {
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
function columnSettings({ from }: Versions): string {
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

const constraintColumns = `'pg_constraint:' || k.oid AS id,
  format('constraint %s of %s.%s', k.conname, n.nspname, c.relname) AS name`;

/**
 * Child tables inherit the constraints of their parents. A constraint that a child table repeats is created first, because
 * PostgreSQL then merges the constraint of the parent with it.
 */
export const checksQuery: ObjectQuery = {
  kind: 'check',
  sql: () => `WITH RECURSIVE heirs(parent, oid) AS (SELECT inhparent, inhrelid FROM pg_inherits
      UNION SELECT h.parent, i.inhrelid FROM heirs h JOIN pg_inherits i ON i.inhparent = h.oid)
    SELECT ${constraintColumns},
      (SELECT array_agg(need) FROM (SELECT 'pg_class:' || c.oid UNION ALL
        SELECT 'pg_class:' || heir.oid FROM heirs heir WHERE heir.parent = c.oid UNION ALL
        SELECT 'pg_constraint:' || same.oid FROM heirs heir JOIN pg_constraint same ON same.conrelid = heir.oid
          AND same.conname = k.conname AND same.contype = 'c' AND same.conislocal
          WHERE heir.parent = c.oid) AS x(need)) AS depends_on,
      ${textArray(`format('ALTER TABLE %I.%I ADD CONSTRAINT %I %s', n.nspname, c.relname, k.conname,
        pg_get_constraintdef(k.oid))`)} AS statements
    FROM ${userRelations('rp')} JOIN pg_constraint k ON k.conrelid = c.oid AND k.contype = 'c' AND k.conislocal`,
};

/** A constraint that is NOT VALID on the parent can be valid on a child that was created later. */
export const validationsQuery: ObjectQuery = {
  kind: 'setting',
  sql: ({ from }) => `SELECT 'validation:' || k.oid AS id,
      format('constraint %s of %s.%s', k.conname, n.nspname, c.relname) AS name,
      (SELECT array_agg('pg_constraint:' || p.oid) FROM pg_constraint p
        WHERE p.contype = 'c' AND p.conislocal AND p.conname = k.conname) AS depends_on,
      ${textArray(`format('ALTER TABLE %I.%I VALIDATE CONSTRAINT %I', n.nspname, c.relname, k.conname)`)} AS statements
    FROM ${userRelations('rp')} JOIN pg_constraint k ON k.conrelid = c.oid AND k.contype = 'c' AND k.convalidated
      AND NOT k.conislocal
    WHERE EXISTS (SELECT FROM pg_constraint p JOIN pg_inherits i ON i.inhparent = p.conrelid AND i.inhrelid = c.oid
      WHERE p.contype = 'c' AND p.conname = k.conname AND NOT p.convalidated ${from >= 180_000 ? 'AND p.conenforced' : ''})`,
};

/**
 * Constraints with an index. ALTER TABLE has the keyword ONLY, because each partition has its own constraint, which is
 * attached later.
 */
export const keysQuery: ObjectQuery = {
  kind: 'key',
  sql: () => `SELECT ${constraintColumns}, ${textArray(`'pg_class:' || c.oid`)} AS depends_on,
      ${joinArrays(`ARRAY[format('ALTER TABLE ONLY %I.%I ADD CONSTRAINT %I %s', n.nspname, c.relname, k.conname,
          pg_get_constraintdef(k.oid)),
        format('ALTER INDEX %I.%I SET (', n.nspname, x.relname) || ${storageParameters('x.reloptions')} || ')']`)} AS statements
    FROM ${userRelations('rp')} JOIN pg_constraint k ON k.conrelid = c.oid AND k.contype IN ('p', 'u', 'x')
    JOIN pg_class x ON x.oid = k.conindid`,
};

/** Foreign keys of partitions are created with those of their parents. */
export const foreignKeysQuery: ObjectQuery = {
  kind: 'foreign key',
  sql: () => `SELECT ${constraintColumns}, ${textArray(`'pg_class:' || c.oid`, `'pg_class:' || k.confrelid`)} AS depends_on,
      ${textArray(`format('ALTER TABLE %s%I.%I ADD CONSTRAINT %I %s', CASE c.relkind WHEN 'p' THEN '' ELSE 'ONLY ' END,
        n.nspname, c.relname, k.conname, pg_get_constraintdef(k.oid))`)} AS statements
    FROM ${userRelations('rp')} JOIN pg_constraint k ON k.conrelid = c.oid AND k.contype = 'f' AND k.conparentid = 0`,
};

/** Indexes without a constraint. Invalid indexes are left out, as pg_dump does, and reported by obstacles.ts. */
export const indexesQuery: ObjectQuery = {
  kind: 'index',
  sql: () => `SELECT 'pg_class:' || x.oid AS id, format('index %s.%s', n.nspname, x.relname) AS name,
      ${textArray(`'pg_class:' || c.oid`)} AS depends_on,
      ${joinArrays(`ARRAY[pg_get_indexdef(x.oid)]`, statisticsTargetStatements)} AS statements
    FROM ${userRelations('rpm')} JOIN pg_index i ON i.indrelid = c.oid JOIN pg_class x ON x.oid = i.indexrelid
    WHERE (i.indisvalid OR c.relkind = 'p') AND i.indisready
      AND NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conindid = x.oid AND k.contype IN ('p', 'u', 'x'))`,
};

const statisticsTargetStatements = `ARRAY(SELECT format('ALTER INDEX %I.%I ALTER COLUMN %s SET STATISTICS %s', n.nspname, x.relname,
    a.attnum, a.attstattarget)
  FROM pg_attribute a WHERE a.attrelid = x.oid AND a.attstattarget >= 0 AND NOT a.attisdropped ORDER BY a.attnum)`;

export const indexPartitionsQuery: ObjectQuery = {
  kind: 'index partition',
  sql: () => `SELECT 'attach:' || x.oid AS id, format('index %s.%s', xn.nspname, x.relname) AS name,
      ${textArray(`'pg_class:' || x.oid`, `'pg_class:' || p.oid`)} AS depends_on,
      ${textArray(`format('ALTER INDEX %I.%I ATTACH PARTITION %I.%I', pn.nspname, p.relname, xn.nspname, x.relname)`)}
        AS statements
    FROM ${userRelations('rp')} JOIN pg_index i ON i.indrelid = c.oid
    JOIN pg_class x ON x.oid = i.indexrelid JOIN pg_namespace xn ON xn.oid = x.relnamespace
    JOIN pg_inherits h ON h.inhrelid = x.oid
    JOIN pg_class p ON p.oid = h.inhparent JOIN pg_namespace pn ON pn.oid = p.relnamespace`,
};

/** Replica identity, clustered index and row-level security of a table. */
export const tableSettingsQuery: ObjectQuery = {
  kind: 'setting',
  sql: () => `SELECT 'settings:' || c.oid AS id, format('settings of %s.%s', n.nspname, c.relname) AS name,
      (SELECT array_agg(need) FROM (SELECT 'pg_class:' || c.oid UNION ALL
        SELECT 'pg_class:' || i.indexrelid FROM pg_index i WHERE i.indrelid = c.oid) AS x(need)) AS depends_on,
      ${joinArrays(`ARRAY[
        CASE c.relreplident WHEN 'f' THEN ${alterTable(`'REPLICA IDENTITY FULL'`)}
          WHEN 'n' THEN ${alterTable(`'REPLICA IDENTITY NOTHING'`)}
          WHEN 'i' THEN ${alterTable(`(SELECT format('REPLICA IDENTITY USING INDEX %I', x.relname) FROM pg_index i
            JOIN pg_class x ON x.oid = i.indexrelid WHERE i.indrelid = c.oid AND i.indisreplident)`)} END,
        ${alterTable(`(SELECT format('CLUSTER ON %I', x.relname) FROM pg_index i
          JOIN pg_class x ON x.oid = i.indexrelid WHERE i.indrelid = c.oid AND i.indisclustered)`)},
        CASE WHEN c.relrowsecurity THEN ${alterTable(`'ENABLE ROW LEVEL SECURITY'`)} END,
        CASE WHEN c.relforcerowsecurity THEN ${alterTable(`'FORCE ROW LEVEL SECURITY'`)} END]`)} AS statements
    FROM ${userRelations('rpm')}`,
};

/** SQL expression for an ALTER statement; it is NULL when the expression `what` is NULL. */
function alterTable(what: string): string {
  return `format('ALTER %s ', CASE c.relkind WHEN 'm' THEN 'MATERIALIZED VIEW' ELSE 'TABLE ONLY' END)
    || format('%I.%I ', n.nspname, c.relname) || ${what}`;
}

/** Sequences, except those of identity columns. The values of the sequences are copied later, as data. */
export const sequencesQuery: ObjectQuery = {
  kind: 'sequence',
  sql: ({ from }) => `SELECT 'pg_class:' || c.oid AS id, format('sequence %s.%s', n.nspname, c.relname) AS name,
      ${textArray(
        `format('CREATE %sSEQUENCE %I.%I AS %s %s', ${
          from >= 150_000 ? `CASE c.relpersistence WHEN 'u' THEN 'UNLOGGED ' ELSE '' END` : `''`
        }, n.nspname, c.relname, format_type(s.seqtypid, NULL), ${sequenceOptions})`,
      )} AS statements
    FROM ${userRelations('S')} JOIN pg_sequence s ON s.seqrelid = c.oid
    WHERE NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid
      AND d.deptype = 'i' AND d.refclassid = 'pg_class'::regclass)`,
};

export const sequenceOwnersQuery: ObjectQuery = {
  kind: 'owned sequence',
  sql: () => `SELECT 'owned:' || c.oid AS id, format('owner of sequence %s.%s', n.nspname, c.relname) AS name,
      ${textArray(`'pg_class:' || c.oid`, `'pg_class:' || t.oid`)} AS depends_on,
      ${textArray(`format('ALTER SEQUENCE %I.%I OWNED BY %I.%I.%I', n.nspname, c.relname, tn.nspname, t.relname, a.attname)`)}
        AS statements
    FROM ${userRelations('S')}
    JOIN pg_depend d ON d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'a'
      AND d.refclassid = 'pg_class'::regclass AND d.refobjsubid > 0
    JOIN pg_class t ON t.oid = d.refobjid JOIN pg_namespace tn ON tn.oid = t.relnamespace
    JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = d.refobjsubid`,
};
