import { builtinTypeOids, firstNormalObjectId, oidsOfCatalogs } from '../../../../postgresql/catalog-oids.ts';
import { dependsOnUserFunctionSql, isNotExtensionMemberSql } from './catalog-predicates.ts';

/**
 * WITH clause with the table `d`: objects that call the functions for which `meant` is true, directly or through an
 * operator.
 */
export const functionDependentsCte = (meant: string): string => `
  WITH f AS (
    SELECT d.classid, d.objid, d.objsubid, d.refobjid AS calls
    FROM pg_depend d
    WHERE ${dependsOnUserFunctionSql} AND ${meant}
  ),
  d AS (
    SELECT classid, objid, objsubid, calls
    FROM f
    WHERE classid <> '${oidsOfCatalogs.pg_operator}'
    UNION
    SELECT u.classid, u.objid, u.objsubid, f.calls
    FROM f
    JOIN pg_depend u ON u.refclassid = '${oidsOfCatalogs.pg_operator}' AND u.refobjid = f.objid
    WHERE f.classid = '${oidsOfCatalogs.pg_operator}'
      AND u.classid <> '${oidsOfCatalogs.pg_operator}'
  )
`;

/** Functions of extensions are left out, because CREATE EXTENSION creates them on the target as well. */
export const userFunctionDependentsCte = functionDependentsCte(isNotExtensionMemberSql('pg_proc', 'd.refobjid'));

/**
 * SQL condition for functions of users in SQL or PL/pgSQL (aliases `p` and `l`). No function matches if `d`, the
 * objects that call such functions, has no rows.
 */
export const isUserSqlOrPlpgsqlFunctionSql = `
  EXISTS (SELECT FROM d)
    AND p.oid >= '${firstNormalObjectId}'
    AND (l.lanname = 'sql' OR l.lanname = 'plpgsql')
    AND p.prorettype <> '${builtinTypeOids.trigger}'
    AND ${isNotExtensionMemberSql('pg_proc', 'p.oid')}
`;
