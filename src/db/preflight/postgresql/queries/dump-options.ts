import { firstNormalObjectId, oidsOfCatalogs } from '../../../../postgresql/catalog-oids.ts';
import { decodeNumberColumnOrZero, decodeTextColumn } from '../../../../postgresql/rows.ts';
import type { PostgresqlPreflightQuery } from '../query.ts';
import { createDatabaseFeatureCondition } from './database-overview.ts';

/** A built-in function that a later release lacks, or has with other arguments, and whose privileges were changed. */
export interface RemovedFunctionWithChangedPrivileges {
  /** With argument types. */
  readonly signature: string;
  /** The first major version without the function. */
  readonly since: number;
}

/**
 * Signatures of functions that a PostgreSQL release removed or changed, as pg_proc describes them. Conversion functions
 * are matched by their arguments.
 */
const removedFunctions: readonly { readonly since: number; readonly signatures: readonly string[] }[] = [
  { since: 13, signatures: ['get_bit(bytea, integer)', 'set_bit(bytea, integer, integer)'] },
  {
    since: 14,
    signatures: [
      'array_append(anyarray, anyelement)',
      'array_cat(anyarray, anyarray)',
      'array_position(anyarray, anyelement)',
      'array_position(anyarray, anyelement, integer)',
      'array_positions(anyarray, anyelement)',
      'array_prepend(anyelement, anyarray)',
      'array_remove(anyarray, anyelement)',
      'array_replace(anyarray, anyelement, anyelement)',
      'currtid(oid, tid)',
      'lag(anyelement, integer, anyelement)',
      'lead(anyelement, integer, anyelement)',
      'numeric_fac(bigint)',
      'pg_create_logical_replication_slot(name, name, boolean)',
      'pg_terminate_backend(integer)',
      'width_bucket(anyelement, anyarray)',
    ],
  },
  {
    since: 15,
    signatures: [
      'close_lb(line, box)',
      'close_sl(lseg, line)',
      'dist_bl(box, line)',
      'dist_lb(line, box)',
      'path_center(path)',
      'pg_backup_start_time()',
      'pg_is_in_backup()',
      'pg_start_backup(text, boolean, boolean)',
      'pg_stop_backup()',
      'pg_stop_backup(boolean, boolean)',
      'point(path)',
    ],
  },
  { since: 16, signatures: ['pg_get_publication_tables(text)'] },
  {
    since: 17,
    signatures: [
      'interval_accum(interval[], interval)',
      'interval_accum_inv(interval[], interval)',
      'interval_avg(interval[])',
      'interval_combine(interval[], interval[])',
      'pg_create_logical_replication_slot(name, name, boolean, boolean)',
      'pg_logical_emit_message(boolean, text, bytea)',
      'pg_logical_emit_message(boolean, text, text)',
      'pg_read_file_old(text, bigint, bigint)',
      'pg_rotate_logfile_old()',
      'pg_stat_get_bgwriter_buf_written_checkpoints()',
      'pg_stat_get_bgwriter_requested_checkpoints()',
      'pg_stat_get_bgwriter_timed_checkpoints()',
      'pg_stat_get_buf_fsync_backend()',
      'pg_stat_get_buf_written_backend()',
      'pg_stat_get_checkpoint_sync_time()',
      'pg_stat_get_checkpoint_write_time()',
    ],
  },
  {
    since: 18,
    signatures: [
      'json_strip_nulls(json)',
      'jsonb_strip_nulls(jsonb)',
      'pg_stat_have_stats(text, oid, oid)',
      'pg_timezone_abbrevs()',
    ],
  },
];

/** Privileges that differ from those after initdb, which a dump contains as GRANT and REVOKE. */
export const removedFunctionsWithChangedPrivilegesQuery: PostgresqlPreflightQuery<
  readonly RemovedFunctionWithChangedPrivileges[]
> = {
  id: 'built-in-grants',
  scope: 'database',
  sql: (version) => {
    const removed = removedFunctions.filter(({ since }) => since > version / 10_000);
    if (removed.length === 0 || version < 100_000) return undefined;
    const signatures = removed.flatMap(({ since, signatures: all }) => all.map((one) => `('${one}', ${since})`));
    const names = removed.flatMap(({ signatures: all }) => all.map((one) => one.slice(0, one.indexOf('('))));
    const isRemoved =
      version < 140_000
        ? `(p.proname = ANY ('{${names.join(',')}}') OR p.proargtypes = '23 23 2275 2281 23')`
        : `p.proname = ANY ('{${names.join(',')}}')`;
    const initial = `
      coalesce(
        (
          SELECT i.initprivs
          FROM pg_init_privs i
          WHERE i.objoid = p.oid
            AND i.classoid = '${oidsOfCatalogs.pg_proc}'
            AND i.objsubid = '0'
        ),
        acldefault('f', p.proowner)
      )
    `;
    const current = "coalesce(p.proacl, acldefault('f', p.proowner))";
    return `
      SELECT p.oid::regprocedure AS signature, coalesce(r.since, 14) AS since
      FROM pg_proc p
      LEFT JOIN (VALUES ${signatures.join(', ')}) r(signature, since)
        ON r.signature = p.proname || '(' || oidvectortypes(p.proargtypes) || ')'
      WHERE ${isRemoved}
        AND p.oid < '${firstNormalObjectId}'
        AND (r.since IS NOT NULL OR p.proargtypes = '23 23 2275 2281 23')
        AND EXISTS (
          (SELECT * FROM aclexplode(${current}) EXCEPT SELECT * FROM aclexplode(${initial}))
          UNION ALL
          (SELECT * FROM aclexplode(${initial}) EXCEPT SELECT * FROM aclexplode(${current}))
        )
      ORDER BY 1
    `;
  },
  decode: (rows) =>
    rows.map((row) => ({
      signature: decodeTextColumn(row, 'signature'),
      since: decodeNumberColumnOrZero(row, 'since'),
    })),
  absent: [],
};

/**
 * Objects whose definition, as this server or its pg_dump writes it, contains the name `system_user` without quotation marks:
 * PostgreSQL 16 made it a reserved word, and both quote only the words of their own release.
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
    // pg_dump itself quotes these, if its release is that of the target.
    `
      SELECT 'column ' || c.oid::regclass || '.' || a.attname, a.attname::text
      FROM pg_attribute a
      JOIN pg_class c ON c.oid = a.attrelid
      WHERE a.attname = 'system_user' AND c.relkind IN ('r', 'p', 'f', 'c') AND ${isUser('c.oid')}
      UNION ALL
      SELECT 'relation ' || c.oid::regclass, c.relname::text
      FROM pg_class c
      WHERE c.relname = 'system_user' AND ${isUser('c.oid')}
    `,
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
