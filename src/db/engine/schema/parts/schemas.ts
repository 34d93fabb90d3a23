import { firstNormalOid } from '../../../../postgresql/catalog-oids.ts';
import {
  collateClause,
  isUserObject,
  isUserSchema,
  joinArrays,
  type ObjectQuery,
  textArray,
  type Versions,
} from '../object.ts';

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

/** User functions and procedures, except those in C, which need a library on the server: `p` in `n`. */
export const functionsQuery: ObjectQuery = {
  kind: 'function',
  sql: () => `SELECT 'pg_proc:' || p.oid AS id,
      format('%s %s.%s(%s)', CASE p.prokind WHEN 'p' THEN 'procedure' ELSE 'function' END, n.nspname, p.proname,
        pg_get_function_identity_arguments(p.oid)) AS name,
      ${textArray(`'pg_namespace:' || n.oid`)} AS depends_on,
      ${textArray(`CASE WHEN l.oid < ${firstNormalOid} THEN 'language:' || l.lanname END`)} AS requirements,
      ${textArray('pg_get_functiondef(p.oid)')} AS statements
    FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace AND ${isUserSchema} AND ${isUserObject('pg_proc', 'p.oid')}
    JOIN pg_language l ON l.oid = p.prolang
    WHERE p.prokind IN ('f', 'p', 'w') AND l.lanname NOT IN ('c', 'internal')`,
};

export const aggregatesQuery: ObjectQuery = {
  kind: 'aggregate',
  sql: () => `SELECT 'pg_proc:' || p.oid AS id,
      format('aggregate %s.%s(%s)', n.nspname, p.proname, pg_get_function_identity_arguments(p.oid)) AS name,
      ${textArray(`'pg_namespace:' || n.oid`)} AS depends_on,
      ${textArray(`format('CREATE AGGREGATE %I.%I(%s) (%s)', n.nspname, p.proname,
        CASE WHEN pg_get_function_arguments(p.oid) = '' THEN '*' ELSE pg_get_function_arguments(p.oid) END,
        ${aggregateOptions})`)} AS statements
    FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace AND ${isUserSchema} AND ${isUserObject('pg_proc', 'p.oid')}
    JOIN pg_aggregate a ON a.aggfnoid = p.oid`,
};

const aggregateOptions = `concat_ws(', ',
  ${functionOption('SFUNC', 'a.aggtransfn')}, 'STYPE = ' || format_type(a.aggtranstype, NULL),
  CASE WHEN a.aggtransspace > 0 THEN 'SSPACE = ' || a.aggtransspace END,
  ${functionOption('FINALFUNC', 'a.aggfinalfn')}, CASE WHEN a.aggfinalextra THEN 'FINALFUNC_EXTRA' END,
  CASE WHEN a.aggfinalfn <> 0 THEN 'FINALFUNC_MODIFY = ' || ${finalModifyOption('a.aggfinalmodify')} END,
  ${functionOption('COMBINEFUNC', 'a.aggcombinefn')}, ${functionOption('SERIALFUNC', 'a.aggserialfn')},
  ${functionOption('DESERIALFUNC', 'a.aggdeserialfn')}, 'INITCOND = ' || quote_literal(a.agginitval),
  ${functionOption('MSFUNC', 'a.aggmtransfn')}, ${functionOption('MINVFUNC', 'a.aggminvtransfn')},
  CASE WHEN a.aggmtranstype <> 0 THEN 'MSTYPE = ' || format_type(a.aggmtranstype, NULL) END,
  CASE WHEN a.aggmtransspace > 0 THEN 'MSSPACE = ' || a.aggmtransspace END,
  ${functionOption('MFINALFUNC', 'a.aggmfinalfn')}, CASE WHEN a.aggmfinalextra THEN 'MFINALFUNC_EXTRA' END,
  CASE WHEN a.aggmfinalfn <> 0 THEN 'MFINALFUNC_MODIFY = ' || ${finalModifyOption('a.aggmfinalmodify')} END,
  'MINITCOND = ' || quote_literal(a.aggminitval),
  (SELECT format('SORTOP = OPERATOR(%I.%s)', os.nspname, o.oprname) FROM pg_operator o
    JOIN pg_namespace os ON os.oid = o.oprnamespace WHERE o.oid = a.aggsortop),
  CASE WHEN a.aggkind = 'h' THEN 'HYPOTHETICAL' END,
  'PARALLEL = ' || CASE p.proparallel WHEN 's' THEN 'SAFE' WHEN 'r' THEN 'RESTRICTED' ELSE 'UNSAFE' END)`;

function functionOption(option: string, column: string): string {
  return `(SELECT format('${option} = %I.%I', fn.nspname, f.proname) FROM pg_proc f
    JOIN pg_namespace fn ON fn.oid = f.pronamespace WHERE f.oid = ${column}::oid)`;
}

function finalModifyOption(column: string): string {
  return `CASE ${column} WHEN 'r' THEN 'READ_ONLY' WHEN 's' THEN 'SHAREABLE' ELSE 'READ_WRITE' END`;
}
