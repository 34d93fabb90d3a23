import { firstNormalOid } from '../../../../postgresql/catalog-oids.ts';
import { catalogName, type ObjectQuery, textArray } from '../object.ts';

/** Comments on all objects. `depends_on` names the object; comments on objects that are not copied are left out. */
export const commentsQuery: ObjectQuery = {
  kind: 'comment',
  sql: () => `SELECT concat_ws(':', 'comment', ${catalogName('d.classoid')}, d.objoid, d.objsubid) AS id,
      format('comment on %s %s', o.type, o.identity) AS name,
      ${textArray(`${catalogName('d.classoid')} || ':' || d.objoid`)} AS depends_on,
      ${textArray(`format('COMMENT ON %s %s IS %L', ${objectTypeSql}, ${objectIdentitySql}, d.description)`)} AS statements
    FROM pg_description d CROSS JOIN LATERAL pg_identify_object(d.classoid, d.objoid, d.objsubid) o
    WHERE (d.objoid >= ${firstNormalOid} OR (d.classoid = 'pg_namespace'::regclass AND o.identity IN ('public', '"public"')
        AND d.description <> 'standard public schema'))
      AND d.classoid <> 'pg_largeobject'::regclass`,
};

/** The keyword of COMMENT ON for a type of pg_identify_object. */
const objectTypeSql = `CASE WHEN o.type LIKE '% column' THEN 'COLUMN' WHEN o.type LIKE '% constraint' THEN 'CONSTRAINT'
  WHEN o.type = 'statistics object' THEN 'STATISTICS' WHEN o.type = 'composite type' THEN 'TYPE' ELSE upper(o.type) END`;

const objectIdentitySql = `CASE WHEN o.type = 'domain constraint' THEN (SELECT format('%I ON DOMAIN %I.%I', k.conname, n.nspname,
    t.typname) FROM pg_constraint k JOIN pg_type t ON t.oid = k.contypid JOIN pg_namespace n ON n.oid = t.typnamespace
    WHERE k.oid = d.objoid) ELSE o.identity END`;
