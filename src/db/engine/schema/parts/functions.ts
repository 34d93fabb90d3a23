import { firstNormalOid } from '../../../../postgresql/catalog-oids.ts';
import { isUserObject, isUserSchema, type ObjectQuery, textArray } from '../object.ts';

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
