import { joinArrays, type ObjectQuery, storageParameters, textArray, userRelations } from '../object.ts';

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
