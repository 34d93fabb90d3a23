import { firstNormalObjectId } from '../../../postgresql/catalog-oids.ts';
import { catalogNameSql } from './sql-fragments.ts';

/**
 * Dependencies from pg_depend: `piece` needs `whole`. The query leaves out owners of sequences, which are set later,
 * and foreign keys of partitions, which are created with those of their parents.
 */
export const schemaDependenciesQuery = `SELECT ${catalogNameSql('d.classid')} || ':' || d.objid AS piece, ${catalogNameSql('d.refclassid')} || ':' || d.refobjid AS whole
  FROM pg_depend d WHERE d.objid >= ${firstNormalObjectId} AND d.refobjid >= ${firstNormalObjectId} AND d.deptype NOT IN ('e', 'P', 'S')
    AND NOT (d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_class'::regclass AND d.deptype IN ('a', 'i')
      AND (SELECT relkind FROM pg_class WHERE oid = d.objid) IN ('S', 'i', 'I'))
    AND NOT (d.classid = 'pg_constraint'::regclass AND (SELECT conparentid FROM pg_constraint WHERE oid = d.objid) <> 0
      AND (SELECT contype FROM pg_constraint WHERE oid = d.objid) = 'f')`;

/** Catalog entries that are created together with another one: the entry `piece` is created together with `whole`. */
export const catalogEntriesCreatedTogetherQuery = `SELECT piece, whole FROM (
  SELECT 'pg_type:' || t.oid, CASE WHEN t.typrelid <> 0 AND c.relkind <> 'c' THEN 'pg_class:' || c.oid
      ELSE 'pg_type:' || t.typelem END
    FROM pg_type t LEFT JOIN pg_class c ON c.oid = t.typrelid
    WHERE t.oid >= ${firstNormalObjectId} AND (c.relkind <> 'c' OR t.typcategory = 'A')
  UNION ALL SELECT 'pg_class:' || typrelid, 'pg_type:' || t.oid
    FROM pg_type t JOIN pg_class c ON c.oid = typrelid AND c.relkind = 'c' WHERE t.oid >= ${firstNormalObjectId}
  UNION ALL SELECT 'pg_class:' || conindid, 'pg_constraint:' || oid FROM pg_constraint WHERE contype IN ('p', 'u', 'x')
  UNION ALL SELECT 'pg_rewrite:' || oid, 'pg_class:' || ev_class FROM pg_rewrite
    WHERE oid >= ${firstNormalObjectId} AND rulename = '_RETURN'
  UNION ALL SELECT 'pg_attrdef:' || d.oid, 'pg_class:' || d.adrelid
    FROM pg_attrdef d JOIN pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum AND a.attgenerated <> ''
  UNION ALL SELECT 'pg_constraint:' || oid, CASE WHEN conrelid = 0 THEN 'pg_type:' || contypid ELSE 'pg_class:' || conrelid END
    FROM pg_constraint WHERE contype = 'n' OR (contype = 'c' AND NOT conislocal) OR (contype = 'f' AND conparentid <> 0)
  UNION ALL SELECT 'pg_constraint:' || tgconstraint, 'pg_trigger:' || t.oid
    FROM pg_trigger t JOIN pg_constraint k ON k.oid = tgconstraint AND k.contype = 't'
  UNION ALL SELECT 'pg_class:' || objid, 'pg_class:' || refobjid FROM pg_depend
    WHERE classid = 'pg_class'::regclass AND refclassid = 'pg_class'::regclass AND deptype = 'i' AND refobjsubid > 0
  UNION ALL SELECT ${catalogNameSql('classid')} || ':' || objid, 'pg_extension:' || refobjid FROM pg_depend WHERE deptype = 'e'
) AS p(piece, whole)`;

/** Since PostgreSQL 14, each range type has a multirange type. */
export const multirangesOfRangeTypesQuery = `SELECT 'pg_type:' || rngmultitypid AS piece, 'pg_type:' || rngtypid AS whole FROM pg_range WHERE rngtypid >= ${firstNormalObjectId}`;
