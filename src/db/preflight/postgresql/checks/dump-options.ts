import { countOf } from '../../../../base/text.ts';
import { catalogOids, firstNormalOid } from '../../../../postgresql/catalog-oids.ts';
import { decodeText } from '../../../../postgresql/rows.ts';
import { passOutcome, unknownOutcome } from '../../finding.ts';
import { declareDatabaseCheck, limitObjects, unlistedNote } from '../check.ts';
import {
  functionKindSql,
  isMemberSql,
  isNamedSql,
  isNotMemberSql,
  laterKeywords,
  mayHaveOtherLettersSql,
} from '../queries/catalog-predicates.ts';
import { featureCondition } from '../queries/database-overview.ts';
import { incompatibleFunctionsQuery, onePartNeed } from '../queries/incompatible-functions.ts';
import { roleSettingsQuery } from '../queries/roles.ts';
import { column, columns, type PostgresqlQuery, type RowOf, rowsQuery } from '../query.ts';
import { targetVersionNumber } from '../source-facts.ts';

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

/** The same for functions of the extensions that a release contains. */
const removedMembers: typeof removedFunctions = [
  { since: 13, signatures: ['pg_stat_statements_reset()'] },
  {
    since: 14,
    signatures: [
      'bt_page_items(text, integer)',
      'bt_page_stats(text, integer)',
      'get_raw_page(text, integer)',
      'get_raw_page(text, text, integer)',
      'page_checksum(bytea, integer)',
    ],
  },
  {
    since: 16,
    signatures: [
      'pg_get_wal_records_info_till_end_of_wal(pg_lsn)',
      'pg_get_wal_stats_till_end_of_wal(pg_lsn, boolean)',
    ],
  },
  { since: 17, signatures: ['pg_stat_statements_reset(oid, oid, bigint)'] },
  { since: 18, signatures: ['postgres_fdw_get_connections()'] },
];

/**
 * Functions of PostgreSQL or of an extension that a later release lacks, or has with other arguments, and whose
 * privileges differ from those after initdb: a dump contains these as GRANT and REVOKE.
 */
const removedFunctionsQuery = rowsQuery({
  id: 'built-in-grants',
  scope: 'database',
  sql: (version) => {
    if (version < 100_000) return undefined;
    // The version of an extension that is installed can be older than that of the release.
    const removed = [...removedFunctions.filter(({ since }) => since > version / 10_000), ...removedMembers];
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
            AND i.classoid = '${catalogOids.pg_proc}'
            AND i.objsubid = '0'
        ),
        acldefault('f', p.proowner)
      )
    `;
    const current = "coalesce(p.proacl, acldefault('f', p.proowner))";
    return `
      SELECT p.oid::regprocedure::text AS signature, coalesce(r.since, 14) AS since, NULL AS role
      FROM pg_proc p
      LEFT JOIN (VALUES ${signatures.join(', ')}) r(signature, since)
        ON r.signature = p.proname || '(' || oidvectortypes(p.proargtypes) || ')'
      WHERE ${isRemoved}
        AND (p.oid < '${firstNormalOid}' OR ${isMemberSql('pg_proc', 'p.oid')})
        AND (r.since IS NOT NULL OR p.proargtypes = '23 23 2275 2281 23')
        AND EXISTS (
          (SELECT * FROM aclexplode(${current}) EXCEPT SELECT * FROM aclexplode(${initial}))
          UNION ALL
          (SELECT * FROM aclexplode(${initial}) EXCEPT SELECT * FROM aclexplode(${current}))
        )
      ${version < 170_000 ? `UNION ALL ${droppedRoles}` : ''}
      ORDER BY 1
    `;
  },
  row: columns({
    /** With argument types. */
    signature: column.text('signature'),
    /** The first major version without the function; 0 for a dropped role. */
    since: column.number('since'),
    /** The object id of a role that was dropped, and that the initial privileges of the object have. */
    role: column.optionalText('role'),
  }),
});

/** Before PostgreSQL 17 the initial privileges of a member of an extension keep a role that is dropped. */
const droppedRoles = `
  SELECT pg_describe_object(i.classoid, i.objoid, i.objsubid), 0, min(x.role)::text
  FROM pg_init_privs i
  CROSS JOIN LATERAL (
    SELECT unnest(ARRAY[a.grantor, a.grantee]) AS role
    FROM aclexplode(i.initprivs) a
  ) x
  WHERE i.privtype = 'e'
    AND x.role <> '0'
    AND NOT EXISTS (SELECT FROM pg_roles r WHERE r.oid = x.role)
  GROUP BY i.classoid, i.objoid, i.objsubid
`;

/** An object whose definition, as this server writes it, contains a name that a later release reads as a keyword. */
type LaterKeywordUse = RowOf<typeof laterKeywordUsesQuery>;

const laterKeywordUsesQuery = rowsQuery({
  id: 'keyword-names',
  scope: 'database',
  when: featureCondition('keyword-names'),
  sql: (version) => {
    const later = laterKeywords.filter(({ since }) => since > version / 10_000);
    if (version < 100_000 || later.length === 0) return undefined;
    const rows = later.flatMap(({ since, words }) => words.map((word) => `('${word}', ${since})`)).join(', ');
    const parts = [
      `
        SELECT ${functionKindSql(version)} || ' ' || p.oid::regprocedure AS object, w.word, w.since
        FROM pg_proc p
        JOIN w ON w.word = ANY (p.proargnames)
        WHERE p.oid >= '${firstNormalOid}'
          AND ${isNotMemberSql('pg_proc', 'p.oid')}
      `,
      `
        SELECT 'type ' || t.oid::regtype, w.word, w.since
        FROM w
        JOIN pg_namespace n ON n.nspname::text = w.word
        JOIN pg_type t ON t.typnamespace = n.oid
        WHERE EXISTS (
          SELECT FROM pg_depend d
          WHERE d.refclassid = '${catalogOids.pg_type}'
            AND d.refobjid = t.oid
            AND d.deptype = 'n'
        )
      `,
    ];
    for (const { words, since, isReserved } of later) {
      if (!isReserved) continue;
      for (const word of words) {
        parts.push(`
          SELECT o.object, '${word}', ${since}
          FROM (${definitions(version, word).join(' UNION ALL ')}) o(object, text)
          WHERE (${isNamedSql([word])})
            AND regexp_replace(o.text, '''([^'']|'''')*''|\\yAS ${word}\\y', '', 'g') ~ '(^|[^."[:alnum:]_$])${word}($|[^"[:alnum:]_$])'
        `);
      }
    }
    return `WITH w (word, since) AS (VALUES ${rows}) ${parts.join(' UNION ')} ORDER BY 1, 2`;
  },
  row: columns({
    object: column.text('object'),
    word: column.text('word'),
    /** The first major version in which the word is such a keyword. */
    since: column.number('since'),
  }),
});

function definitions(version: number, word: string): readonly string[] {
  // To write out a query PostgreSQL locks each of its relations until the end of the transaction, so only those are
  // written out that may contain the word: as an alias, as the name of a relation or a column, or of a field. It is CASE
  // that tests this first; the planner tests a condition with a subquery after the others.
  const mayName = (catalog: 'pg_rewrite' | 'pg_policy' | 'pg_proc', oid: string, trees: string) => `
    (
      ${trees} ~ '${word}|FIELDSELECT'
        OR EXISTS (
          SELECT FROM pg_depend d
          WHERE d.classid = '${catalogOids[catalog]}'
            AND d.objid = ${oid}
            AND d.refobjid IN (
              SELECT attrelid FROM pg_attribute WHERE attname = '${word}'
              UNION ALL SELECT oid FROM pg_class WHERE relname = '${word}'
            )
        )
    )
  `;
  const isUser = (oid: string) => `${oid} >= '${firstNormalOid}'`;
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
      SELECT CASE c.relkind WHEN 'm' THEN 'materialized view ' ELSE 'view ' END || c.oid::regclass,
        CASE WHEN ${mayName('pg_rewrite', 'r.oid', 'r.ev_action::text')} THEN pg_get_viewdef(c.oid) END
      FROM pg_class c
      JOIN pg_rewrite r ON r.ev_class = c.oid AND r.ev_type = '1'
      WHERE c.relkind IN ('v', 'm') AND ${isUser('c.oid')}
    `,
    `
      SELECT 'rule ' || quote_ident(r.rulename) || ' on ' || r.ev_class::regclass,
        CASE WHEN ${mayName('pg_rewrite', 'r.oid', 'concat(r.ev_action::text, r.ev_qual::text)')} THEN pg_get_ruledef(r.oid) END
      FROM pg_rewrite r
      WHERE r.rulename <> '_RETURN'
        AND ${isUser('r.oid')}
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
        CASE
          WHEN ${mayName('pg_policy', 'p.oid', 'concat(p.polqual::text, p.polwithcheck::text)')}
            THEN concat_ws(' ', pg_get_expr(p.polqual, p.polrelid), pg_get_expr(p.polwithcheck, p.polrelid))
        END
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
        ${functionKindSql(version)} || ' ' || p.oid::regprocedure,
        concat_ws(
          ' ',
          pg_get_function_arguments(p.oid),
          pg_get_function_result(p.oid)
          ${version < 140_000 ? '' : `, CASE WHEN ${mayName('pg_proc', 'p.oid', 'p.prosqlbody::text')} THEN pg_get_function_sqlbody(p.oid) END`}
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

/** Objects with other letters than those of ASCII, and the encoding in which new sessions of the role read them. */
interface EncodedTexts {
  readonly encoding: string;
  readonly objects: readonly string[];
}

/** pg_dump keeps the client_encoding that ALTER ROLE or ALTER DATABASE sets, unless an option names another one. */
const encodedTextsQuery: PostgresqlQuery<EncodedTexts> = {
  id: 'encoded-texts',
  scope: 'database',
  when: (known) => known(roleSettingsQuery)?.some(({ name }) => name.toLowerCase() === 'client_encoding') !== false,
  sql: () => `
    WITH e AS (
      SELECT split_part(a, '=', 2) AS encoding
      FROM pg_db_role_setting s
      CROSS JOIN LATERAL unnest(s.setconfig) a
      LEFT JOIN pg_database d ON d.oid = s.setdatabase
      LEFT JOIN pg_roles r ON r.oid = s.setrole
      WHERE lower(split_part(a, '=', 1)) = 'client_encoding'
        AND (s.setrole = 0 OR r.rolname = current_user)
        AND (s.setdatabase = 0 OR d.datname = current_database())
      ORDER BY s.setrole <> 0 DESC, s.setdatabase <> 0 DESC
      LIMIT 1
    )
    SELECT e.encoding, o.object
    FROM e
    CROSS JOIN LATERAL (
      SELECT pg_describe_object(o.catalog, o.oid, o.part) AS object
      FROM (${namedTextsSql}) o (catalog, oid, part, text)
      WHERE o.oid >= '${firstNormalOid}' AND o.text ~ '[^ -~[:space:]]'
    ) o
    WHERE pg_char_to_encoding(e.encoding) NOT IN (
      pg_char_to_encoding(getdatabaseencoding()),
      pg_char_to_encoding('UTF8'),
      pg_char_to_encoding('SQL_ASCII')
    )
      AND getdatabaseencoding() <> 'SQL_ASCII'
    GROUP BY 1, 2
    ORDER BY 2
  `,
  decode: (rows) => ({
    encoding: decodeText(rows[0] ?? {}, 'encoding'),
    objects: rows.map((row) => decodeText(row, 'object')),
  }),
  absent: { encoding: '', objects: [] },
};

/** Names, comments, bodies and constants, as pg_dump reads them. */
const namedTextsSql = [
  ['pg_class', 'oid', '0', 'relname'],
  ['pg_class', 'attrelid', 'attnum', 'attname', 'pg_attribute'],
  ['pg_proc', 'oid', '0', "concat(proname, ' ', proargnames::text, ' ', prosrc)"],
  ['pg_type', 'oid', '0', 'typname'],
  ['pg_type', 'enumtypid', '0', 'enumlabel', 'pg_enum'],
  ['pg_namespace', 'oid', '0', 'nspname'],
  ['pg_constraint', 'oid', '0', "concat(conname, ' ', pg_get_constraintdef(oid))"],
  ['pg_trigger', 'oid', '0', "concat(tgname, ' ', pg_get_triggerdef(oid))"],
  [
    'pg_rewrite',
    'oid',
    '0',
    `concat(rulename, ' ', CASE WHEN ${mayHaveOtherLettersSql('ev_action')} THEN pg_get_ruledef(oid) END)`,
  ],
  [
    'pg_policy',
    'oid',
    '0',
    `concat(
      polname,
      ' ',
      CASE WHEN ${mayHaveOtherLettersSql('polqual')} THEN pg_get_expr(polqual, polrelid) END,
      ' ',
      CASE WHEN ${mayHaveOtherLettersSql('polwithcheck')} THEN pg_get_expr(polwithcheck, polrelid) END
    )`,
  ],
  ['pg_attrdef', 'oid', '0', 'pg_get_expr(adbin, adrelid)'],
  ['pg_class', 'indexrelid', '0', 'pg_get_indexdef(indexrelid)', 'pg_index'],
]
  .map(
    ([catalog, oid, part, text, from = catalog]) =>
      `SELECT '${catalog}'::regclass::oid, ${oid}, ${part}::int, ${text}::text FROM ${from}`,
  )
  .concat('SELECT classoid, objoid, objsubid, description FROM pg_description')
  .join(' UNION ALL ');

export const dumpOptionsCheck = declareDatabaseCheck({
  id: 'dump-options',
  title: 'the target version accepts a dump with the default options of pg_dump',
  headline: 'The target version rejects a dump with the default options of pg_dump',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: {
    keywordNames: laterKeywordUsesQuery,
    builtInGrants: removedFunctionsQuery,
    encodedTexts: encodedTextsQuery,
    functions: incompatibleFunctionsQuery,
  },
  evaluate(
    { keywordNames, builtInGrants, encodedTexts: { encoding, objects: texts }, functions },
    database,
    _facts,
    options,
  ) {
    const target = targetVersionNumber(options);
    const concerns = ({ since }: { readonly since: number }) => target === undefined || since * 10_000 <= target;
    const names = keywordNames.filter(concerns);
    const privileges = builtInGrants.filter(concerns);
    const grants = privileges.map(({ signature }) => signature);
    const removed = privileges.find(({ role }) => role === undefined);
    const ofDropped = privileges.find(({ role }) => role !== undefined);
    const postponed = functions.filter(({ needs }) => needs === onePartNeed).map(({ object }) => object);
    if (names.length + grants.length + texts.length + postponed.length === 0) return passOutcome('yes');
    const named = [...new Set(names.map(({ object }) => object))];
    const objects = [...named, ...grants.map((signature) => `privileges on ${signature}`), ...texts, ...postponed];
    return {
      ...unknownOutcome(`${countOf(objects.length, 'object')}, and the options of the service are not known`),
      premise: `the service ${[
        ...(names.length === 0 ? [] : ['quotes all names (pg_dump --quote-all-identifiers)']),
        ...(grants.length === 0 ? [] : ['leaves out privileges (pg_dump --no-privileges)']),
        ...(texts.length === 0 ? [] : ['sets the encoding (pg_dump --encoding UTF8)']),
        ...(postponed.length === 0 ? [] : ['restores the schema in one part (pg_restore without --section)']),
      ].join(' and ')}`,
      settledBy:
        names.length > 0
          ? 'ALTER … RENAME on the source'
          : grants.length > 0
            ? 'REVOKE or GRANT on the source'
            : texts.length > 0
              ? 'ALTER … RESET client_encoding on the source'
              : 'CREATE OR REPLACE FUNCTION on the source',
      required: 'definitions that the target version reads as they are written',
      detail: [
        names.length === 0 ? '' : describeKeywords(names),
        removed === undefined
          ? ''
          : `The target version has no function ${removed.signature}, or a function of this name with other arguments: "function … does not exist".`,
        ofDropped === undefined
          ? ''
          : `The role that created an extension was dropped, and the initial privileges of its objects still have it, which a dump revokes: "role "${ofDropped.role}" does not exist".`,
        texts.length === 0
          ? ''
          : `New sessions of the role have client_encoding ${encoding}, in which pg_dump reads the listed names, comments or bodies: "character … has no equivalent in encoding "${encoding}"".`,
        postponed.length === 0
          ? ''
          : `The body of ${postponed[0]} depends on a key, so a dump creates the function among the constraints, and what uses the function before them. A restore that creates tables and constraints separately fails: "function … does not exist".`,
      ]
        .filter((text) => text !== '')
        .join(' ')
        .concat(unlistedNote(objects)),
      objects: limitObjects(objects),
      fix: {
        database,
        by: 'the owner of the objects, or a superuser',
        text: [
          ...(names.length === 0
            ? []
            : [
                'Rename the column, table or schema (ALTER … RENAME), or drop the function and create it with another name of the argument, and adapt the application.',
              ]),
          ...(grants.length === 0
            ? []
            : [
                'Restore the original privileges of the functions (GRANT EXECUTE … TO PUBLIC, or REVOKE), or drop the extension and create it again.',
              ]),
          ...(texts.length === 0
            ? []
            : [
                'Take the encoding back until the cut-over: ALTER DATABASE … RESET client_encoding, or ALTER ROLE … RESET client_encoding.',
              ]),
          ...(postponed.length === 0
            ? []
            : ['Name all columns in the GROUP BY of the body, or columns instead of the constraint in ON CONFLICT.']),
        ].join(' '),
      },
    };
  },
});

function describeKeywords(names: readonly LaterKeywordUse[]): string {
  const words = [...new Set(names.map(({ word, since }) => `${word.toUpperCase()} (PostgreSQL ${since})`))];
  const isUser = names.some(({ word }) => word === 'system_user');
  return `Newer releases have more keywords, and this server writes these names without quotation marks: ${words.join(', ')}. On the target the definition is a syntax error${isUser ? ', or uses the name of the user instead of the column system_user' : ''}.`;
}
