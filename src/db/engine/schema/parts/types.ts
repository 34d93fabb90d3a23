import {
  collateClause,
  isUserObject,
  isUserSchema,
  joinArrays,
  type ObjectQuery,
  textArray,
  type Versions,
} from '../object.ts';

/** FROM item: user types as `t`, with their schemas as `n`. */
const userTypes = `pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace AND ${isUserSchema} AND ${isUserObject('pg_type', 't.oid')}`;
const typeColumns = `'pg_type:' || t.oid AS id, format('type %s.%s', n.nspname, t.typname) AS name`;

export const enumsQuery: ObjectQuery = {
  kind: 'type',
  sql: () => `SELECT ${typeColumns}, ${textArray(`format('CREATE TYPE %I.%I AS ENUM (%s)', n.nspname, t.typname,
      (SELECT string_agg(quote_literal(enumlabel), ', ' ORDER BY enumsortorder) FROM pg_enum WHERE enumtypid = t.oid))`)}
      AS statements
    FROM ${userTypes} WHERE t.typtype = 'e'`,
};

export const compositesQuery: ObjectQuery = {
  kind: 'type',
  sql: () => `SELECT ${typeColumns}, ${textArray(`format('CREATE TYPE %I.%I AS (%s)', n.nspname, t.typname,
      (SELECT string_agg(format('%I %s%s', a.attname, format_type(a.atttypid, a.atttypmod),
          ${collateClause('a.attcollation', 'a.atttypid')}), ', ' ORDER BY a.attnum)
        FROM pg_attribute a WHERE a.attrelid = t.typrelid AND a.attnum > 0 AND NOT a.attisdropped))`)} AS statements
    FROM ${userTypes} JOIN pg_class c ON c.oid = t.typrelid AND c.relkind = 'c'`,
};

/**
 * Domains without their CHECK constraints, which are created later: a function in a constraint may have the domain as a
 * type.
 */
export const domainsQuery: ObjectQuery = {
  kind: 'type',
  sql: ({
    from,
  }) => `SELECT ${typeColumns}, ${textArray(`format('CREATE DOMAIN %I.%I AS %s%s%s%s', n.nspname, t.typname,
      format_type(t.typbasetype, t.typtypmod), ${collateClause('t.typcollation', 't.typbasetype')},
      coalesce(' DEFAULT ' || coalesce(pg_get_expr(t.typdefaultbin, 'pg_type'::regclass), quote_literal(t.typdefault)), ''),
      CASE WHEN t.typnotnull THEN ${from >= 170_000 ? namedNotNull : `' NOT NULL'`} ELSE '' END)`)} AS statements
    FROM ${userTypes} WHERE t.typtype = 'd'`,
};

/** From PostgreSQL 17 on, NOT NULL of a domain is a named constraint. */
const namedNotNull = `coalesce((SELECT format(' CONSTRAINT %I NOT NULL', conname) FROM pg_constraint
      WHERE contypid = t.oid AND contype = 'n'), ' NOT NULL')`;

export const domainChecksQuery: ObjectQuery = {
  kind: 'domain constraint',
  sql: () => `SELECT 'pg_constraint:' || k.oid AS id,
      format('constraint %s of domain %s.%s', k.conname, n.nspname, t.typname) AS name,
      ${textArray(`'pg_type:' || t.oid`)} AS depends_on,
      ${textArray(`format('ALTER DOMAIN %I.%I ADD CONSTRAINT %I %s', n.nspname, t.typname, k.conname,
        pg_get_constraintdef(k.oid))`)} AS statements
    FROM ${userTypes} JOIN pg_constraint k ON k.contypid = t.oid AND k.contype = 'c'`,
};

export const rangesQuery: ObjectQuery = {
  kind: 'type',
  sql: ({
    from,
  }) => `SELECT ${typeColumns}, ${textArray(`format('CREATE TYPE %I.%I AS RANGE (%s)', n.nspname, t.typname,
      ${rangeOptions({ from })})`)} AS statements
    FROM ${userTypes} JOIN pg_range r ON r.rngtypid = t.oid
    LEFT JOIN pg_opclass o ON o.oid = r.rngsubopc LEFT JOIN pg_namespace os ON os.oid = o.opcnamespace
    LEFT JOIN pg_collation co ON co.oid = r.rngcollation LEFT JOIN pg_namespace cn ON cn.oid = co.collnamespace
    LEFT JOIN pg_proc d ON d.oid = r.rngsubdiff LEFT JOIN pg_namespace dn ON dn.oid = d.pronamespace
    WHERE t.typtype = 'r' AND r.rngcanonical = 0`,
};

function rangeOptions({ from }: Pick<Versions, 'from'>): string {
  const multirange = `(SELECT format('multirange_type_name = %I.%I', mn.nspname, m.typname)
    FROM pg_type m JOIN pg_namespace mn ON mn.oid = m.typnamespace WHERE m.oid = r.rngmultitypid)`;
  return `concat_ws(', ', 'subtype = ' || format_type(r.rngsubtype, NULL),
    format('subtype_opclass = %I.%I', os.nspname, o.opcname),
    CASE WHEN co.oid IS NOT NULL THEN format('collation = %I.%I', cn.nspname, co.collname) END,
    CASE WHEN d.oid IS NOT NULL THEN format('subtype_diff = %I.%I', dn.nspname, d.proname) END
    ${from >= 140_000 ? `, ${multirange}` : ''})`;
}

/** User casts, except those that a range type creates. */
export const castsQuery: ObjectQuery = {
  kind: 'cast',
  sql: () => `SELECT 'pg_cast:' || k.oid AS id,
      format('cast (%s AS %s)', format_type(k.castsource, NULL), format_type(k.casttarget, NULL)) AS name,
      ${joinArrays(`ARRAY[format('CREATE CAST (%s AS %s) %s%s', format_type(k.castsource, NULL), format_type(k.casttarget, NULL),
        CASE k.castmethod WHEN 'b' THEN 'WITHOUT FUNCTION' WHEN 'i' THEN 'WITH INOUT'
          ELSE format('WITH FUNCTION %I.%I(%s)', n.nspname, p.proname, pg_get_function_identity_arguments(p.oid)) END,
        CASE k.castcontext WHEN 'i' THEN ' AS IMPLICIT' WHEN 'a' THEN ' AS ASSIGNMENT' ELSE '' END)]`)} AS statements
    FROM pg_cast k LEFT JOIN pg_proc p ON p.oid = k.castfunc LEFT JOIN pg_namespace n ON n.oid = p.pronamespace
    WHERE ${isUserObject('pg_cast', 'k.oid')} AND NOT EXISTS (SELECT FROM pg_depend d
      WHERE d.classid = 'pg_cast'::regclass AND d.objid = k.oid AND d.deptype = 'i')`,
};
