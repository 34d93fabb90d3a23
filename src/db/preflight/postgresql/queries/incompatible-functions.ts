import { catalogOids, firstNormalOid, languageOids } from '../../../../postgresql/catalog-oids.ts';
import type { PostgresqlQuery } from '../query.ts';
import { isNotMemberSql } from './catalog-predicates.ts';
import { featureCondition } from './database-overview.ts';
import { decodeIncompatible, type IncompatibleObject } from './incompatible-calls.ts';

/**
 * Names of server functions that a function in the language `internal` can use; CREATE FUNCTION verifies that they
 * exist.
 */
const removedInternalFunctions: readonly { readonly since: number; readonly names: string }[] = [
  {
    since: 13,
    names:
      'opaque_in|opaque_out|txid_current|txid_current_if_assigned|txid_current_snapshot|txid_snapshot_in|txid_snapshot_out|txid_snapshot_recv|txid_snapshot_send|txid_snapshot_xip|txid_snapshot_xmax|txid_snapshot_xmin|txid_status|txid_visible_in_snapshot',
  },
  { since: 14, names: 'binary_upgrade_set_next_toast_pg_type_oid|currtid_byreloid|split_text' },
  {
    since: 15,
    names:
      'close_lb|close_sl|dist_bl|dist_lb|path_center|pg_backup_start_time|pg_is_in_backup|pg_start_backup|pg_stop_backup|pg_stop_backup_v2',
  },
  { since: 16, names: 'pg_read_binary_file|pg_read_file_v2' },
  {
    since: 17,
    names:
      'interval_accum|interval_accum_inv|interval_combine|pg_read_file|pg_rotate_logfile_v2|pg_stat_get_bgwriter_buf_written_checkpoints|pg_stat_get_bgwriter_requested_checkpoints|pg_stat_get_bgwriter_timed_checkpoints|pg_stat_get_buf_fsync_backend|pg_stat_get_buf_written_backend|pg_stat_get_checkpoint_sync_time|pg_stat_get_checkpoint_write_time',
  },
  { since: 18, names: 'pg_timezone_abbrevs' },
];

/** Settings that later releases removed, in SET clauses, as patterns over pg_proc.proconfig. */
const removedSettings: readonly { readonly since: number; readonly settings: string; readonly says?: string }[] = [
  { since: 10, settings: 'sql_inheritance=.*' },
  { since: 11, settings: 'replacement_sort_tuples=.*' },
  { since: 12, settings: 'default_with_oids=(on|true|yes|1)', says: 'tables declared WITH OIDS are not supported' },
  { since: 14, settings: '(operator_precedence_warning|vacuum_cleanup_index_scale_factor)=.*' },
  {
    since: 14,
    settings: 'password_encryption=(on|true|yes|1)',
    says: 'invalid value for parameter "password_encryption"',
  },
  { since: 16, settings: 'force_parallel_mode=.*' },
];

/** Functions that the extensions of a later release create, and that a user can have created with the same name. */
const newMembers: readonly {
  readonly extension: string;
  readonly since: number;
  readonly signatures: readonly string[];
}[] = [
  { extension: 'fuzzystrmatch', since: 16, signatures: ['daitch_mokotoff(text)'] },
  { extension: 'ltree', since: 17, signatures: ['hash_ltree(ltree)', 'hash_ltree_extended(ltree, bigint)'] },
  { extension: 'pgcrypto', since: 18, signatures: ['fips_mode()'] },
  { extension: 'btree_gist', since: 18, signatures: ['gist_translate_cmptype_btree(integer)'] },
];

/**
 * A function in the library of an extension that is no member of it was taken out by ALTER EXTENSION … DROP FUNCTION:
 * CREATE EXTENSION creates it on the target, and the dump again.
 */
export const incompatibleFunctionsQuery: PostgresqlQuery<readonly IncompatibleObject[]> = {
  id: 'incompatible-functions',
  scope: 'database',
  when: featureCondition('functions'),
  sql: (version) => {
    const later = (one: { readonly since: number }) => one.since > version / 10_000;
    const object = `
      CASE ${version < 110_000 ? "'f'" : 'p.prokind'} WHEN 'p' THEN 'procedure ' ELSE 'function ' END || p.oid::regprocedure AS object
    `;
    const own = `p.oid >= '${firstNormalOid}' AND ${isNotMemberSql('pg_proc', 'p.oid')}`;
    const parts = [
      ...removedInternalFunctions.filter(later).map(
        ({ since, names }) => `
            SELECT
              ${object},
              'internal function ' || p.prosrc AS needs,
              format('there is no built-in function named "%s"', p.prosrc) AS says,
              ${since} AS since
            FROM pg_proc p
            WHERE p.prolang = '${languageOids.internal}'
              AND p.prosrc ~ '^(${names})$'
              AND ${own}
          `,
      ),
      `
        SELECT
          ${object},
          'a name that the extension ' || x.extname || ' does not use' AS needs,
          format('function "%s" already exists with same argument types', p.proname) AS says,
          coalesce(m.since, 0) AS since
        FROM pg_extension x
        JOIN pg_proc p ON p.pronamespace = x.extnamespace
        LEFT JOIN (VALUES ${newMembers.flatMap(({ extension, since, signatures }) => signatures.map((one) => `('${extension}', '${one}', ${since})`)).join(', ')}) m (extension, signature, since)
          ON m.extension = x.extname
            AND m.signature = p.proname || '(' || oidvectortypes(p.proargtypes) || ')'
            AND m.since > ${Math.floor(version / 10_000)}
        WHERE ${own}
          AND (m.since IS NOT NULL OR p.probin = '$libdir/' || x.extname)
      `,
      functionLoopsSql(object, version),
      changedPropertiesSql,
      ...(version < 140_000 ? [] : [postponedFunctionsSql(object)]),
      ...removedSettings.filter(later).map(
        ({ since, settings, says }) => `
            SELECT
              ${object},
              'setting ' || split_part(s.set, '=', 1),
              ${says === undefined ? `format('unrecognized configuration parameter "%s"', split_part(s.set, '=', 1))` : `'${says}'`},
              ${since}
            FROM pg_proc p
            CROSS JOIN LATERAL unnest(p.proconfig) s(set)
            WHERE p.proconfig IS NOT NULL
              AND s.set ~* '^${settings}$'
              AND ${own}
          `,
      ),
    ];
    return parts.length === 0 ? undefined : `${parts.join(' UNION ALL ')} ORDER BY 1, 2`;
  },
  decode: decodeIncompatible,
  absent: [],
};

/**
 * A dump can create an object before what it depends on if it can add that later: constraints, defaults of tables, views.
 * It cannot do so with defaults of domains and of arguments, generated columns, partition keys and SQL-standard bodies.
 * The functions of base types and ranges are created after a declaration of the type.
 */
function functionLoopsSql(object: string, version: number): string {
  const { pg_attrdef, pg_class, pg_proc, pg_type } = catalogOids;
  const generated = `
    UNION ALL
    SELECT '${pg_class}', f.adrelid, d.refclassid, d.refobjid
    FROM pg_attrdef f
    JOIN pg_attribute a ON a.attrelid = f.adrelid AND a.attnum = f.adnum AND a.attgenerated <> ''
    JOIN pg_depend d ON d.classid = '${pg_attrdef}' AND d.objid = f.oid
    WHERE d.refobjid >= '${firstNormalOid}'
  `;
  return `
    SELECT
      ${object},
      'a definition that does not depend on itself' AS needs,
      format('function %s or what it uses does not exist', p.oid::regprocedure) AS says,
      0 AS since
    FROM pg_proc p
    WHERE ${isNotMemberSql('pg_proc', 'p.oid')}
      AND p.oid IN (
        WITH RECURSIVE e (classid, objid, refclassid, refobjid) AS (
          SELECT d.classid, d.objid, d.refclassid, d.refobjid
          FROM pg_depend d
          WHERE d.classid IN ('${pg_class}', '${pg_proc}', '${pg_type}')
            AND d.refclassid IN ('${pg_class}', '${pg_proc}', '${pg_type}')
            AND d.deptype IN ('n', 'i')
            AND d.refobjid >= '${firstNormalOid}'
            AND NOT (
              d.classid = '${pg_type}'
                AND d.refclassid = '${pg_proc}'
                AND d.objid IN (SELECT t.oid FROM pg_type t WHERE t.typtype <> 'd')
            )
          UNION ALL
          SELECT '${pg_type}', t.oid, '${pg_class}', t.typrelid
          FROM pg_type t
          WHERE t.oid >= '${firstNormalOid}' AND t.typtype = 'c'
          ${version < 120_000 ? '' : generated}
        ), r (root, classid, objid) AS (
          SELECT e.refobjid, e.refclassid, e.refobjid FROM e WHERE e.refclassid = '${pg_proc}'
          UNION
          SELECT r.root, e.refclassid, e.refobjid FROM r JOIN e ON e.classid = r.classid AND e.objid = r.objid
        )
        SELECT r.root
        FROM r
        JOIN e ON e.classid = r.classid AND e.objid = r.objid
        WHERE e.refclassid = '${pg_proc}' AND e.refobjid = r.root
      )
  `;
}

/** What a function needs that a dump creates among the constraints, although something before them uses it. */
export const onePartNeed = 'a restore in one part';

/** A body with a column that is not grouped, or with ON CONFLICT ON CONSTRAINT, depends on a key. */
function postponedFunctionsSql(object: string): string {
  const { pg_attrdef, pg_constraint, pg_proc, pg_rewrite, pg_type } = catalogOids;
  return `
    SELECT DISTINCT ${object}, '${onePartNeed}' AS needs, NULL AS says, 0 AS since
    FROM pg_depend k
    JOIN pg_proc p ON p.oid = k.objid
    JOIN pg_depend u ON u.refclassid = '${pg_proc}' AND u.refobjid = p.oid
    WHERE k.classid = '${pg_proc}'
      AND k.refclassid = '${pg_constraint}'
      AND u.classid IN ('${pg_attrdef}', '${pg_proc}', '${pg_rewrite}', '${pg_type}')
      AND ${isNotMemberSql('pg_proc', 'p.oid')}
  `;
}

/**
 * What CREATE requires of the functions of an aggregate or a range type, and ALTER FUNCTION or CREATE OR REPLACE FUNCTION
 * can change later. The type of the first argument counts as that of the state where it may be converted.
 */
const changedPropertiesSql = `
  SELECT
    'aggregate ' || a.aggfnoid::regprocedure AS object,
    c.needs,
    c.says,
    0 AS since
  FROM pg_aggregate a
  JOIN pg_proc p ON p.oid = a.aggfnoid
  LEFT JOIN pg_type g ON g.oid = p.proargtypes[0]
  LEFT JOIN pg_proc t ON t.oid = a.aggtransfn
  LEFT JOIN pg_proc f ON f.oid = a.aggfinalfn
  LEFT JOIN pg_proc m ON m.oid = a.aggmtransfn
  LEFT JOIN pg_proc v ON v.oid = a.aggminvtransfn
  LEFT JOIN pg_proc x ON x.oid = a.aggmfinalfn
  CROSS JOIN LATERAL (
    SELECT
      'an initial value, or function ' || y.oid::regprocedure || ' without STRICT',
      'must not omit initial value when transition function is strict and transition type is not compatible with input type'
    FROM (
      VALUES
        (t.oid, t.proisstrict, a.agginitval, a.aggtranstype),
        (m.oid, m.proisstrict, a.aggminitval, a.aggmtranstype)
    ) y(oid, is_strict, initial, state)
    JOIN pg_type s ON s.oid = y.state
    WHERE y.is_strict
      AND y.initial IS NULL
      AND s.typtype <> 'p'
      AND (
        g.oid IS NULL
          OR (
            g.oid <> s.oid
              AND g.typtype NOT IN ('p', 'd')
              AND NOT EXISTS (
                SELECT FROM pg_cast k
                WHERE k.castsource = g.oid AND k.casttarget = s.oid AND k.castmethod = 'b'
              )
          )
      )
    UNION ALL
    SELECT
      'functions of which all are STRICT, or none: ' || m.oid::regprocedure || ', ' || v.oid::regprocedure,
      'strictness of aggregate''s forward and inverse transition functions must match'
    WHERE m.proisstrict <> v.proisstrict
    UNION ALL
    SELECT
      'function ' || (CASE WHEN a.aggfinalextra AND f.proisstrict THEN f.oid ELSE x.oid END)::regprocedure || ' without STRICT',
      'final function with extra arguments must not be declared STRICT'
    WHERE (a.aggfinalextra AND f.proisstrict) OR (a.aggmfinalextra AND x.proisstrict)
  ) c(needs, says)
  WHERE a.aggfnoid >= '${firstNormalOid}'
    AND ${isNotMemberSql('pg_proc', 'a.aggfnoid')}
  UNION ALL
  SELECT
    'type ' || r.rngtypid::regtype,
    'function ' || p.oid::regprocedure || ' IMMUTABLE',
    format('range subtype diff function %s must be immutable', p.oid::regprocedure),
    0
  FROM pg_range r
  JOIN pg_proc p ON p.oid = r.rngsubdiff
  WHERE p.provolatile <> 'i'
    AND ${isNotMemberSql('pg_type', 'r.rngtypid')}
`;
