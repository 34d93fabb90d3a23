import {
  isUserObject,
  isUserSchema,
  joinArrays,
  type ObjectQuery,
  textArray,
  userRelations,
  type Versions,
} from '../object.ts';

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
