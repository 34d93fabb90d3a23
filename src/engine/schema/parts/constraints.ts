import type { PartQuery } from '../schema-part.ts';
import { jsonTextArray, jsonTextArrayConcat, storageOptionsSql, userRelations } from '../sql-fragments.ts';

const constraintColumns = `'pg_constraint:' || k.oid AS id,
  format('constraint %s of %s.%s', k.conname, n.nspname, c.relname) AS name`;

/** Heirs get what their parents have; what a child says again comes first, because a parent's merges with it. */
export const checkParts: PartQuery = {
  kind: 'check',
  sql: () => `WITH RECURSIVE heirs(parent, oid) AS (SELECT inhparent, inhrelid FROM pg_inherits
      UNION SELECT h.parent, i.inhrelid FROM heirs h JOIN pg_inherits i ON i.inhparent = h.oid)
    SELECT ${constraintColumns},
      (SELECT json_agg(need) FROM (SELECT 'pg_class:' || c.oid UNION ALL
        SELECT 'pg_class:' || heir.oid FROM heirs heir WHERE heir.parent = c.oid UNION ALL
        SELECT 'pg_constraint:' || same.oid FROM heirs heir JOIN pg_constraint same ON same.conrelid = heir.oid
          AND same.conname = k.conname AND same.contype = 'c' AND same.conislocal
          WHERE heir.parent = c.oid) AS x(need)) AS needs,
      ${jsonTextArray(`format('ALTER TABLE %I.%I ADD CONSTRAINT %I %s', n.nspname, c.relname, k.conname,
        pg_get_constraintdef(k.oid))`)} AS statements
    FROM ${userRelations('rp')} JOIN pg_constraint k ON k.conrelid = c.oid AND k.contype = 'c' AND k.conislocal`,
};

/** An heir made after its parent's check was added without a look at the rows has it looked at from the start. */
export const validationParts: PartQuery = {
  kind: 'setting',
  sql: ({ from }) => `SELECT 'validation:' || k.oid AS id,
      format('constraint %s of %s.%s', k.conname, n.nspname, c.relname) AS name,
      (SELECT json_agg('pg_constraint:' || p.oid) FROM pg_constraint p
        WHERE p.contype = 'c' AND p.conislocal AND p.conname = k.conname) AS needs,
      ${jsonTextArray(`format('ALTER TABLE %I.%I VALIDATE CONSTRAINT %I', n.nspname, c.relname, k.conname)`)} AS statements
    FROM ${userRelations('rp')} JOIN pg_constraint k ON k.conrelid = c.oid AND k.contype = 'c' AND k.convalidated
      AND NOT k.conislocal
    WHERE EXISTS (SELECT FROM pg_constraint p JOIN pg_inherits i ON i.inhparent = p.conrelid AND i.inhrelid = c.oid
      WHERE p.contype = 'c' AND p.conname = k.conname AND NOT p.convalidated ${from >= 180_000 ? 'AND p.conenforced' : ''})`,
};

/** Those with an index. ONLY: each partition has its own under its own name, and the two are joined later. */
export const keyParts: PartQuery = {
  kind: 'key',
  sql: () => `SELECT ${constraintColumns}, ${jsonTextArray(`'pg_class:' || c.oid`)} AS needs,
      ${jsonTextArrayConcat(`ARRAY[format('ALTER TABLE ONLY %I.%I ADD CONSTRAINT %I %s', n.nspname, c.relname, k.conname,
          pg_get_constraintdef(k.oid)),
        format('ALTER INDEX %I.%I SET (', n.nspname, x.relname) || ${storageOptionsSql('x.reloptions')} || ')']`)} AS statements
    FROM ${userRelations('rp')} JOIN pg_constraint k ON k.conrelid = c.oid AND k.contype IN ('p', 'u', 'x')
    JOIN pg_class x ON x.oid = k.conindid`,
};

/** Those of partitions come with their parent's; only there do they reach down. */
export const foreignKeyParts: PartQuery = {
  kind: 'foreign key',
  sql: () => `SELECT ${constraintColumns}, ${jsonTextArray(`'pg_class:' || c.oid`, `'pg_class:' || k.confrelid`)} AS needs,
      ${jsonTextArray(`format('ALTER TABLE %s%I.%I ADD CONSTRAINT %I %s', CASE c.relkind WHEN 'p' THEN '' ELSE 'ONLY ' END,
        n.nspname, c.relname, k.conname, pg_get_constraintdef(k.oid))`)} AS statements
    FROM ${userRelations('rp')} JOIN pg_constraint k ON k.conrelid = c.oid AND k.contype = 'f' AND k.conparentid = 0`,
};
