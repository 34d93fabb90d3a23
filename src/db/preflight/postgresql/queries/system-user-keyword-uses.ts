import { firstNormalObjectId } from '../../../../postgresql/catalog-oids.ts';
import { decodeTextColumn } from '../../../../postgresql/decode-row.ts';
import type { PostgresqlPreflightQuery } from '../query.ts';
import { createDatabaseFeatureCondition } from './database-overview.ts';

/**
 * Objects whose definition, as this server writes it, contains the name `system_user` without quotation marks: PostgreSQL 16
 * made it a reserved word, and a server quotes only the words of its own release.
 */
export const unquotedSystemUserKeywordUsesQuery: PostgresqlPreflightQuery<readonly string[]> = {
  id: 'system-user-names',
  scope: 'database',
  when: createDatabaseFeatureCondition('system-user-names'),
  sql: (version) =>
    version < 100_000 || version >= 160_000
      ? undefined
      : `
        SELECT DISTINCT o.object
        FROM (${definitions(version).join(' UNION ALL ')}) o(object, words)
        WHERE regexp_replace(o.words, '''([^'']|'''')*''|\\yAS system_user\\y', '', 'g') ~ '(^|[^."[:alnum:]_$])system_user($|[^"[:alnum:]_$])'
        ORDER BY 1
      `,
  decode: (rows) => rows.map((row) => decodeTextColumn(row, 'object')),
  absent: [],
};

function definitions(version: number): readonly string[] {
  const isUser = (oid: string) => `${oid} >= '${firstNormalObjectId}'`;
  return [
    `
      SELECT CASE c.relkind WHEN 'm' THEN 'materialized view ' ELSE 'view ' END || c.oid::regclass, pg_get_viewdef(c.oid)
      FROM pg_class c
      WHERE c.relkind IN ('v', 'm') AND ${isUser('c.oid')}
    `,
    `
      SELECT 'rule ' || quote_ident(r.rulename) || ' on ' || r.ev_class::regclass, pg_get_ruledef(r.oid)
      FROM pg_rewrite r
      WHERE r.rulename <> '_RETURN' AND ${isUser('r.oid')}
    `,
    `
      SELECT
        'constraint ' || quote_ident(k.conname) || ' on ' || CASE
          WHEN k.contypid <> '0' THEN k.contypid::regtype::text
          ELSE k.conrelid::regclass::text
        END,
        pg_get_constraintdef(k.oid)
      FROM pg_constraint k
      WHERE k.contype IN ('c', 'f', 'x') AND ${isUser('k.oid')}
    `,
    `
      SELECT 'index ' || i.indexrelid::regclass, pg_get_indexdef(i.indexrelid)
      FROM pg_index i
      WHERE NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conindid = i.indexrelid AND k.contype IN ('p', 'u', 'x'))
        AND ${isUser('i.indexrelid')}
    `,
    `
      SELECT
        'column ' || d.adrelid::regclass || '.' || quote_ident(a.attname),
        pg_get_expr(d.adbin, d.adrelid)
      FROM pg_attrdef d
      JOIN pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum
      WHERE ${isUser('d.oid')}
    `,
    `
      SELECT 'trigger ' || quote_ident(t.tgname) || ' on ' || t.tgrelid::regclass, pg_get_triggerdef(t.oid)
      FROM pg_trigger t
      WHERE NOT t.tgisinternal AND ${isUser('t.oid')}
    `,
    `
      SELECT
        'policy ' || quote_ident(p.polname) || ' on ' || p.polrelid::regclass,
        concat_ws(' ', pg_get_expr(p.polqual, p.polrelid), pg_get_expr(p.polwithcheck, p.polrelid))
      FROM pg_policy p
    `,
    `
      SELECT 'statistics ' || quote_ident(s.stxname) || ' on ' || s.stxrelid::regclass, pg_get_statisticsobjdef(s.oid)
      FROM pg_statistic_ext s
    `,
    `
      SELECT 'partition key of ' || p.partrelid::regclass, pg_get_partkeydef(p.partrelid)
      FROM pg_partitioned_table p
    `,
    `
      SELECT
        CASE ${version < 110_000 ? "'f'" : 'p.prokind'} WHEN 'p' THEN 'procedure ' ELSE 'function ' END || p.oid::regprocedure,
        concat_ws(
          ' ',
          pg_get_function_arguments(p.oid),
          pg_get_function_result(p.oid)
          ${version < 140_000 ? '' : ', pg_get_function_sqlbody(p.oid)'}
        )
      FROM pg_proc p
      WHERE ${isUser('p.oid')} AND ${version < 110_000 ? 'NOT p.proisagg' : "p.prokind <> 'a'"}
    `,
    ...(version < 150_000
      ? []
      : [
          `
            SELECT 'publication ' || quote_ident(p.pubname), pg_get_expr(r.prqual, r.prrelid)
            FROM pg_publication_rel r
            JOIN pg_publication p ON p.oid = r.prpubid
          `,
        ]),
  ];
}
