import { firstNormalOid } from '../../../../postgresql/catalog-oids.ts';
import {
  catalogName,
  isUserObject,
  isUserSchema,
  joinArrays,
  type ObjectQuery,
  storageParameters,
  textArray,
  userRelations,
  type Versions,
} from '../object.ts';

export const viewsQuery: ObjectQuery = {
  kind: 'view',
  sql: () => `SELECT 'pg_class:' || c.oid AS id, format('view %s.%s', n.nspname, c.relname) AS name,
      ${textArray(`format('CREATE VIEW %I.%I%s AS %s', n.nspname, c.relname,
        coalesce(' WITH (' || ${storageParameters('c.reloptions')} || ')', ''), pg_get_viewdef(c.oid))`)} AS statements
    FROM ${userRelations('v')}`,
};

/** Materialized views WITH NO DATA. The views are refreshed when the rows of their tables have been copied. */
export const materializedViewsQuery: ObjectQuery = {
  kind: 'view',
  sql: () => `SELECT 'pg_class:' || c.oid AS id, format('materialized view %s.%s', n.nspname, c.relname) AS name,
      ${textArray(`format('CREATE MATERIALIZED VIEW %I.%I%s%s AS %s WITH NO DATA', n.nspname, c.relname,
        coalesce((SELECT format(' USING %I', m.amname) FROM pg_am m WHERE m.oid = c.relam AND m.amname <> 'heap'), ''),
        coalesce(' WITH (' || ${storageParameters('c.reloptions')} || ')', ''), rtrim(pg_get_viewdef(c.oid), ';'))`)}
        AS statements
    FROM ${userRelations('m')}`,
};

/** Column defaults of tables and views. Generated columns have their expression in CREATE TABLE. */
export const defaultsQuery: ObjectQuery = {
  kind: 'default',
  sql: () => `SELECT 'pg_attrdef:' || d.oid AS id, format('default of %s.%s.%s', n.nspname, c.relname, a.attname) AS name,
      ${textArray(`'pg_class:' || c.oid`)} AS depends_on,
      ${textArray(`format('ALTER TABLE ONLY %I.%I ALTER COLUMN %I SET DEFAULT %s', n.nspname, c.relname, a.attname,
        pg_get_expr(d.adbin, d.adrelid))`)} AS statements
    FROM ${userRelations('rpv')} JOIN pg_attrdef d ON d.adrelid = c.oid
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = d.adnum AND a.attgenerated = ''`,
};

/** Triggers, except those of partitions, which are created with their parent's. */
export const triggersQuery: ObjectQuery = {
  kind: 'trigger',
  sql: (versions) => `SELECT 'pg_trigger:' || t.oid AS id,
      format('trigger %s of %s.%s', t.tgname, n.nspname, c.relname) AS name,
      ${textArray(`'pg_class:' || c.oid`)} AS depends_on,
      ${joinArrays(`ARRAY[pg_get_triggerdef(t.oid), CASE WHEN t.tgenabled <> 'O' THEN ${triggerState(`t.tgenabled`)} END]`)}
        AS statements
    FROM ${userRelations('rpv')} JOIN pg_trigger t ON t.tgrelid = c.oid
    WHERE NOT t.tgisinternal AND ${isOriginalTrigger(versions)}`,
};

/** Triggers of partitions whose enabled state differs from the parent's. */
export const partitionTriggersQuery: ObjectQuery = {
  kind: 'rule',
  sql: (versions) => `SELECT 'state:' || t.oid AS id,
      format('trigger %s of %s.%s', t.tgname, n.nspname, c.relname) AS name,
      ${textArray(`'pg_class:' || c.oid`)} AS depends_on, ${textArray(triggerState('t.tgenabled'))} AS statements
    FROM ${userRelations('rp')} JOIN pg_trigger t ON t.tgrelid = c.oid
    WHERE c.relispartition AND t.tgconstraint = 0 AND NOT (${isOriginalTrigger(versions)}) AND EXISTS (SELECT FROM pg_trigger other
      WHERE other.tgname = t.tgname AND other.tgfoid = t.tgfoid AND 'O' <> ANY (ARRAY[other.tgenabled, t.tgenabled]))`,
};

/** Up to PostgreSQL 12 a cloned trigger is an internal trigger of a partition. */
function isOriginalTrigger({ from }: Versions): string {
  return from >= 130_000 ? 't.tgparentid = 0' : 'NOT (t.tgisinternal AND c.relispartition)';
}

function triggerState(column: string): string {
  return `format('ALTER TABLE ONLY %I.%I %s TRIGGER %I', n.nspname, c.relname, CASE ${column}
    WHEN 'D' THEN 'DISABLE' WHEN 'R' THEN 'ENABLE REPLICA' WHEN 'A' THEN 'ENABLE ALWAYS' ELSE 'ENABLE' END, t.tgname)`;
}

/** Rewrite rules, except the rule that defines a view. */
export const rulesQuery: ObjectQuery = {
  kind: 'rule',
  sql: () => `SELECT 'pg_rewrite:' || r.oid AS id, format('rule %s of %s.%s', r.rulename, n.nspname, c.relname) AS name,
      ${textArray(`'pg_class:' || c.oid`)} AS depends_on,
      ${joinArrays(`ARRAY[pg_get_ruledef(r.oid), CASE WHEN r.ev_enabled <> 'O' THEN
        format('ALTER TABLE %I.%I %s RULE %I', n.nspname, c.relname, CASE r.ev_enabled WHEN 'D' THEN 'DISABLE'
          WHEN 'R' THEN 'ENABLE REPLICA' ELSE 'ENABLE ALWAYS' END, r.rulename) END]`)} AS statements
    FROM ${userRelations('rpv')} JOIN pg_rewrite r ON r.ev_class = c.oid AND r.rulename <> '_RETURN'`,
};

/** Event triggers are created last, because they would fire for all later DDL. */
export const eventTriggerPartsQuery: ObjectQuery = {
  kind: 'event trigger',
  sql: () => `SELECT 'pg_event_trigger:' || e.oid AS id, 'event trigger ' || e.evtname AS name,
      ${joinArrays(`ARRAY[format('CREATE EVENT TRIGGER %I ON %s%s EXECUTE FUNCTION %I.%I()', e.evtname, e.evtevent,
          coalesce(' WHEN TAG IN (' || (SELECT string_agg(quote_literal(tag), ', ') FROM unnest(e.evttags) tag) || ')', ''),
          n.nspname, p.proname),
        CASE WHEN e.evtenabled <> 'O' THEN format('ALTER EVENT TRIGGER %I %s', e.evtname, CASE e.evtenabled
          WHEN 'D' THEN 'DISABLE' WHEN 'R' THEN 'ENABLE REPLICA' ELSE 'ENABLE ALWAYS' END) END]`)} AS statements
    FROM pg_event_trigger e JOIN pg_proc p ON p.oid = e.evtfoid JOIN pg_namespace n ON n.oid = p.pronamespace
    WHERE ${isUserObject('pg_event_trigger', 'e.oid')}`,
};

/** Row-level security policies. Their roles must exist on the target. */
export const policiesQuery: ObjectQuery = {
  kind: 'policy',
  sql: () => `SELECT 'pg_policy:' || p.oid AS id, format('policy %s of %s.%s', p.polname, n.nspname, c.relname) AS name,
      ${textArray(`'pg_class:' || c.oid`)} AS depends_on,
      (SELECT array_agg('role:' || rolname) FROM pg_roles WHERE oid = ANY (p.polroles)) AS requirements,
      ${textArray(`format('CREATE POLICY %I ON %I.%I AS %s FOR %s TO %s%s%s', p.polname, n.nspname, c.relname,
        CASE WHEN p.polpermissive THEN 'PERMISSIVE' ELSE 'RESTRICTIVE' END,
        CASE p.polcmd WHEN 'r' THEN 'SELECT' WHEN 'a' THEN 'INSERT' WHEN 'w' THEN 'UPDATE' WHEN 'd' THEN 'DELETE' ELSE 'ALL' END,
        coalesce((SELECT string_agg(quote_ident(rolname), ', ') FROM pg_roles WHERE oid = ANY (p.polroles)), 'PUBLIC'),
        coalesce(' USING (' || pg_get_expr(p.polqual, p.polrelid) || ')', ''),
        coalesce(' WITH CHECK (' || pg_get_expr(p.polwithcheck, p.polrelid) || ')', ''))`)} AS statements
    FROM ${userRelations('rp')} JOIN pg_policy p ON p.polrelid = c.oid`,
};

export const statisticsQuery: ObjectQuery = {
  kind: 'statistics',
  sql: ({
    from,
  }) => `SELECT 'pg_statistic_ext:' || s.oid AS id, format('statistics %s.%s', n.nspname, s.stxname) AS name,
      ${textArray(`'pg_class:' || s.stxrelid`)} AS depends_on,
      ${joinArrays(
        `ARRAY[pg_get_statisticsobjdef(s.oid)${
          from >= 130_000
            ? `, CASE WHEN s.stxstattarget >= 0 THEN
        format('ALTER STATISTICS %I.%I SET STATISTICS %s', n.nspname, s.stxname, s.stxstattarget) END`
            : ''
        }]`,
      )} AS statements
    FROM pg_statistic_ext s JOIN pg_namespace n ON n.oid = s.stxnamespace AND ${isUserSchema}
    WHERE ${isUserObject('pg_statistic_ext', 's.oid')}`,
};

/** Publications of the source. On the target they have no effect until a subscriber uses them. */
export const publicationsQuery: ObjectQuery = {
  kind: 'publication',
  sql: (versions) => `SELECT 'pg_publication:' || p.oid AS id, 'publication ' || p.pubname AS name,
      (SELECT array_agg('pg_class:' || r.prrelid) FROM pg_publication_rel r WHERE r.prpubid = p.oid) AS depends_on,
      ${joinArrays(
        `ARRAY[format('CREATE PUBLICATION %I%s WITH (%s)', p.pubname,
          CASE WHEN p.puballtables THEN ' FOR ALL TABLES' ELSE '' END, ${publicationOptions(versions)})]`,
        addTableStatements(versions),
        addSchemaStatements(versions),
      )} AS statements
    FROM pg_publication p WHERE ${isUserObject('pg_publication', 'p.oid')}`,
};

function publicationOptions({ from }: Versions): string {
  return `concat_ws(', ', format('publish = %L', concat_ws(', ', CASE WHEN p.pubinsert THEN 'insert' END,
      CASE WHEN p.pubupdate THEN 'update' END, CASE WHEN p.pubdelete THEN 'delete' END,
      CASE WHEN p.pubtruncate THEN 'truncate' END))
    ${from >= 130_000 ? `, CASE WHEN p.pubviaroot THEN 'publish_via_partition_root = true' END` : ''}
    ${from >= 180_000 ? `, CASE p.pubgencols WHEN 's' THEN 'publish_generated_columns = stored' END` : ''})`;
}

function addTableStatements({ from }: Versions): string {
  const rest =
    from >= 150_000
      ? `coalesce((SELECT format(' (%s)', string_agg(format('%I', a.attname), ', ' ORDER BY a.attnum))
          FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum = ANY (r.prattrs::int2[]) HAVING count(*) > 0), ''),
        coalesce(' WHERE (' || pg_get_expr(r.prqual, r.prrelid) || ')', '')`
      : `'', ''`;
  return `ARRAY(SELECT format('ALTER PUBLICATION %I ADD TABLE ONLY %I.%I%s%s', p.pubname, n.nspname, c.relname, ${rest})
    FROM pg_publication_rel r JOIN pg_class c ON c.oid = r.prrelid JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE r.prpubid = p.oid ORDER BY 1)`;
}

function addSchemaStatements({ from }: Versions): string {
  if (from < 150_000) return 'ARRAY[]';
  return `ARRAY(SELECT format('ALTER PUBLICATION %I ADD TABLES IN SCHEMA %I', p.pubname, n.nspname)
    FROM pg_publication_namespace s JOIN pg_namespace n ON n.oid = s.pnnspid WHERE s.pnpubid = p.oid ORDER BY 1)`;
}

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
