import { firstNormalOid } from '../../../../postgresql/catalog-oids.ts';
import { isUserObject, isUserSchema, type ObjectQuery, textArray } from '../object.ts';

export const schemasQuery: ObjectQuery = {
  kind: 'schema',
  sql: () => `SELECT 'pg_namespace:' || n.oid AS id, 'schema ' || n.nspname AS name,
    ${textArray(`format('CREATE SCHEMA %I', n.nspname)`)} AS statements
    FROM pg_namespace n WHERE ${isUserSchema} AND n.nspname <> 'public' AND ${isUserObject('pg_namespace', 'n.oid')}`,
};

/** CREATE EXTENSION names no version, so the target installs its default version, as with a dump of pg_dump. */
export const extensionsQuery: ObjectQuery = {
  kind: 'extension',
  sql: () => `SELECT 'pg_extension:' || e.oid AS id, 'extension ' || e.extname AS name,
    ${textArray(`'pg_namespace:' || n.oid`)} AS depends_on, ${textArray(`'extension:' || e.extname`)} AS requirements,
    ${textArray(`format('CREATE EXTENSION IF NOT EXISTS %I WITH SCHEMA %I', e.extname, n.nspname)`)} AS statements
    FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
    WHERE e.oid >= ${firstNormalOid} AND e.extname <> 'plpgsql'`,
};

export const collationsQuery: ObjectQuery = {
  kind: 'collation',
  sql: ({ from }) => {
    const locale = from >= 170_000 ? 'c.colllocale' : from >= 150_000 ? 'c.colliculocale' : 'c.collcollate';
    const rules = from >= 160_000 ? 'c.collicurules' : 'NULL';
    return `SELECT 'pg_collation:' || c.oid AS id, format('collation %s.%s', n.nspname, c.collname) AS name,
      ${textArray(`format('CREATE COLLATION %I.%I (provider = %s, %s%s%s)', n.nspname, c.collname,
        CASE c.collprovider WHEN 'i' THEN 'icu' WHEN 'b' THEN 'builtin' ELSE 'libc' END,
        CASE WHEN c.collprovider = 'c' THEN format('lc_collate = %L, lc_ctype = %L', c.collcollate, c.collctype)
          ELSE format('locale = %L', ${locale}) END,
        CASE WHEN c.collisdeterministic THEN '' ELSE ', deterministic = false' END,
        coalesce(', rules = ' || quote_literal(nullif(${rules}, '')), ''))`)} AS statements
      FROM pg_collation c JOIN pg_namespace n ON n.oid = c.collnamespace
      WHERE ${isUserSchema} AND ${isUserObject('pg_collation', 'c.oid')} AND c.collprovider IN ('c', 'i', 'b')`;
  },
};
