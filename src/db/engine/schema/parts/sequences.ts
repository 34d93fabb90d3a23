import { type ObjectQuery, sequenceOptions, textArray, userRelations } from '../object.ts';

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
