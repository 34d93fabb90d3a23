import { catalogOids, firstNormalOid, functionOids, typeOids } from '../../../../postgresql/catalog-oids.ts';
import { decodeNumber, decodeText } from '../../../../postgresql/rows.ts';
import type { PostgresqlQuery } from '../query.ts';
import { isNotMemberSql } from './catalog-predicates.ts';
import { featureCondition, hasDumpedExpressions } from './database-overview.ts';

/** An object that a later release cannot create. */
export interface IncompatibleObject {
  /** The object, such as `view public.load`, `operator public.!!!(integer,NONE)`. */
  readonly object: string;
  /**
   * The feature that the object uses and the later release does not have: `column pg_stat_bgwriter.buffers_backend`.
   */
  readonly needs: string;
  /** The first major version that cannot create the object; 0 if no version can. */
  readonly since: number;
  /** The error message of the later release, set if `needs` does not imply it. */
  readonly says?: string;
}

export function decodeIncompatible(
  rows: Parameters<PostgresqlQuery<unknown>['decode']>[0],
): readonly IncompatibleObject[] {
  return rows.map((row) => ({
    object: decodeText(row, 'object'),
    needs: decodeText(row, 'needs'),
    since: decodeNumber(row, 'since'),
    ...(decodeText(row, 'says') === '' ? {} : { says: decodeText(row, 'says') }),
  }));
}

/**
 * What later releases changed, as patterns of object ids. Removed: the factorial operators; containment operators of
 * geometric types and of aclitem; geometric functions that were never implemented; functions of exclusive backups, of
 * pg_stat_bgwriter, of the averages of intervals, and others. `fewer` and `other`: functions with fewer columns, or with
 * new ones between the old.
 */
const changedCalls = [
  { since: 13, fewer: '3444', other: '3083|3317' },
  { since: 14, operators: '388|389|28[67][0-9]', functions: '111|1293', other: '1686|2022' },
  {
    since: 15,
    operators: '970|1524|1382|156[68]',
    functions: '226|703|726|96[23]|1533|2172|2173|2739|381[34]',
  },
  { since: 16, other: '2022|2510|3401|6118|6119|6250' },
  { since: 17, functions: '1843|1844|2769|277[015]|3063|316[01]|3325|3549|4099|4100', other: '3781' },
  { since: 18, functions: '2599', fewer: '1136', other: '2282|3781|6214|6231' },
];

/** The beginning of `needs` of an object that a later release creates with other columns, or refuses. */
export const movedColumnsNeed = 'the order of the columns of function ';

/**
 * Stored expressions that call a changed operator or function, and that a dump writes out by name. The alias of a
 * function in FROM is written with the columns that it returns, by their position.
 */
export const incompatibleCallsQuery: PostgresqlQuery<readonly IncompatibleObject[]> = {
  id: 'incompatible-calls',
  scope: 'database',
  when: hasDumpedExpressions,
  sql: (version) => {
    const calls = changedCalls
      .filter(({ since }) => since > version / 10_000)
      .flatMap(
        ({ since, operators, functions, fewer, other }) =>
          [
            [since, 'opno', operators, "'operator ' || m.oid::regoperator"],
            [since, 'funcid', functions, "'function ' || m.oid::regprocedure"],
            [since, 'funcexpr {FUNCEXPR :funcid', fewer, "'columns of function ' || m.oid::regprocedure"],
            [since, 'funcexpr {FUNCEXPR :funcid', other, `'${movedColumnsNeed}' || m.oid::regprocedure`],
          ] as const,
      )
      .filter(([, , oids]) => oids !== undefined);
    const parts = calls.map(
      ([since, field, oids, needs]) => `
        SELECT DISTINCT o.object, ${needs} AS needs, ${since} AS since
        FROM o
        CROSS JOIN LATERAL (
          SELECT found[1]::oid AS oid
          FROM regexp_matches(o.tree, ':${field.replace('{', '[{]')} (${oids}) ', 'g') found
        ) m
      `,
    );
    const materialized = version < 120_000 ? '' : 'MATERIALIZED';
    const changed = parts.length === 0 ? [] : [`SELECT o.*, NULL AS says FROM (${parts.join(' UNION ALL ')}) o`];
    const cycles = version < 140_000 ? [] : [cycleMarks];
    return `
      WITH m AS ${materialized} (${castFunctions}), o AS ${materialized} (${parts.length === 0 ? concerned(dumpedTreesSql(version)) : dumpedTreesSql(version)})
      ${[...changed, ...cycles, missingCasts, domainLoops, lostDefaults].join(' UNION ALL ')}
      ORDER BY 1, 2
    `;
  },
  decode: decodeIncompatible,
  absent: [],
};

/** Of a release without other changes only the trees that the other parts of the query read; all can be very large. */
const concerned = (trees: string) => `
  SELECT t.*
  FROM (${trees}) t
  WHERE EXISTS (SELECT FROM m)
    OR t.tree LIKE '%{CTECYCLECLAUSE %'
`;

/** Functions of which only the owner of one of the types can make a cast, with what depends on them. */
const castFunctions = `
  SELECT
    d.classid,
    d.objid,
    p.oid,
    p.proargtypes[0] AS source,
    p.prorettype AS target,
    k.oid IS NULL AND NOT EXISTS (
      SELECT FROM pg_cast c
      WHERE c.castsource = p.proargtypes[0] AND c.casttarget = p.prorettype
    ) AS is_gone
  FROM pg_proc p
  JOIN pg_depend d ON d.refclassid = '${catalogOids.pg_proc}' AND d.refobjid = p.oid
  LEFT JOIN pg_cast k ON k.castfunc = p.oid
  WHERE p.oid >= '${firstNormalOid}'
    AND p.pronargs BETWEEN 1 AND 3
    AND (p.proargtypes[0] >= '${firstNormalOid}' OR p.prorettype >= '${firstNormalOid}')
    AND ${isNotMemberSql('pg_proc', 'p.oid')}
`;

/**
 * An expression depends on the function of a cast, and not on the cast: the cast can be dropped, and a dump creates domains
 * before the casts.
 */
const missingCasts = `
  SELECT DISTINCT
    o.object,
    'a cast by function ' || m.oid::regprocedure AS needs,
    0 AS since,
    format('cannot cast type %s to %s', format_type(m.source, NULL), format_type(m.target, NULL)) AS says
  FROM m
  JOIN o ON o.catalog = m.classid AND o.oid = m.objid
  LEFT JOIN pg_constraint c ON o.catalog = '${catalogOids.pg_constraint}' AND c.oid = o.oid
  WHERE (m.is_gone OR o.catalog = '${catalogOids.pg_type}' OR (c.contypid <> '0' AND c.convalidated))
    AND o.tree ~ concat(':funcid ', m.oid, ' :funcresulttype [0-9]+ :funcretset [a-z]+ :funcvariadic [a-z]+ :funcformat [12] ')
`;

/**
 * The marks of CYCLE are written with their types, as in 'Y'::text, which the grammar refuses there. Only boolean,
 * integer and numeric constants have none.
 */
const cycleMarks = `
  SELECT DISTINCT
    o.object,
    'marks of CYCLE that are boolean values or numbers' AS needs,
    0 AS since,
    'syntax error at or near "::"' AS says
  FROM o
  WHERE o.tree LIKE '%{CTECYCLECLAUSE %'
    AND o.tree ~ ':cycle_mark_(value|default) [{]CONST :consttype (?!(${typeOids.bool}|${typeOids.int4}|${typeOids.numeric}) )'
`;

/** A sequence that belongs to a table cannot be created before it, and the table not before its domain. */
const domainLoops = `
  SELECT
    'domain ' || t.oid::regtype AS object,
    'a sequence that belongs to no table with the domain' AS needs,
    0 AS since,
    format('relation "%s" does not exist', o.refobjid::regclass) AS says
  FROM pg_type t
  JOIN pg_depend d ON d.classid = '${catalogOids.pg_type}'
    AND d.objid = t.oid
    AND d.refclassid = '${catalogOids.pg_class}'
  JOIN pg_depend o ON o.classid = '${catalogOids.pg_class}'
    AND o.objid = d.refobjid
    AND o.deptype = 'a'
    AND o.refclassid = '${catalogOids.pg_class}'
    AND o.refobjsubid > 0
  WHERE t.typtype = 'd'
    AND t.typdefaultbin IS NOT NULL
    AND EXISTS (
      SELECT FROM pg_attribute a
      WHERE a.attrelid = o.refobjid AND a.atttypid IN (t.oid, t.typarray)
    )
`;

/** What a domain needs that has no default. */
export const noDefaultNeed = 'a base domain without a default';

/** A domain takes the default of its base domain when it is created, and a dump does not write that a domain has none. */
const lostDefaults = `
  SELECT 'domain ' || t.oid::regtype, '${noDefaultNeed}', 0, NULL
  FROM pg_type t
  JOIN pg_type b ON b.oid = t.typbasetype
  WHERE t.typtype = 'd'
    AND b.typtype = 'd'
    AND b.typdefaultbin IS NOT NULL
    AND t.typdefaultbin IS NULL
    AND ${isNotMemberSql('pg_type', 't.oid')}
`;

/** Part of what an object needs that uses a member of an extension in another schema. */
export const movedMemberNeed = ', which the extension creates in schema ';

/** Extensions whose versions since PostgreSQL 14 lack some operators. An older version stays when a server is upgraded. */
const outdatedExtensions = ['cube', 'hstore', 'intarray', 'seg'];
const removedOperators = ['@', '~'];

export function isRemovedOperator(name: string, extension: string): boolean {
  return removedOperators.includes(name) && outdatedExtensions.includes(extension);
}

/**
 * Objects that depend on such an operator, or on a member of an extension that is not in the schema of the extension,
 * where all members of a relocatable one are created.
 */
export const removedExtensionOperatorsQuery: PostgresqlQuery<readonly IncompatibleObject[]> = {
  id: 'removed-extension-operators',
  scope: 'database',
  when: featureCondition('extensions'),
  sql: () => `
    WITH m AS (
      SELECT m.classid, m.objid, 'operator ' || o.oid::regoperator AS needs, 14 AS since, NULL AS says
      FROM pg_extension e
      JOIN pg_depend m ON m.refclassid = '${catalogOids.pg_extension}' AND m.refobjid = e.oid
        AND m.classid = '${catalogOids.pg_operator}' AND m.deptype = 'e'
      JOIN pg_operator o ON o.oid = m.objid AND o.oprname IN (${removedOperators.map((name) => `'${name}'`).join(', ')})
      WHERE e.extname IN (${outdatedExtensions.map((name) => `'${name}'`).join(', ')})
      UNION ALL
      SELECT
        m.classid,
        m.objid,
        pg_describe_object(m.classid, m.objid, 0) || '${movedMemberNeed}' || e.extnamespace::regnamespace,
        0,
        pg_describe_object(m.classid, m.objid, 0) || ' does not exist'
      FROM pg_extension e
      JOIN pg_depend m ON m.refclassid = '${catalogOids.pg_extension}' AND m.refobjid = e.oid AND m.deptype = 'e'
      LEFT JOIN pg_proc p ON m.classid = '${catalogOids.pg_proc}' AND p.oid = m.objid
      LEFT JOIN pg_class c ON m.classid = '${catalogOids.pg_class}' AND c.oid = m.objid
      LEFT JOIN pg_type t ON m.classid = '${catalogOids.pg_type}' AND t.oid = m.objid
      CROSS JOIN LATERAL (SELECT coalesce(p.pronamespace, c.relnamespace, t.typnamespace)) n(oid)
      WHERE e.extrelocatable
        AND n.oid <> e.extnamespace
        AND NOT EXISTS (
          SELECT FROM pg_depend s
          WHERE s.classid = '${catalogOids.pg_namespace}' AND s.objid = n.oid AND s.deptype = 'e'
        )
    )
    SELECT DISTINCT
      coalesce(
        CASE c.relkind WHEN 'm' THEN 'materialized view ' WHEN 'v' THEN 'view ' ELSE 'rule of ' END || c.oid::regclass,
        i.type || ' ' || i.identity
      ) AS object,
      m.needs,
      m.since,
      m.says
    FROM m
    JOIN pg_depend d ON d.refclassid = m.classid AND d.refobjid = m.objid AND d.deptype <> 'i'
      AND d.classid NOT IN ('${catalogOids.pg_operator}', '${catalogOids.pg_amop}')
    CROSS JOIN LATERAL pg_identify_object(d.classid, d.objid, d.objsubid) i
    LEFT JOIN pg_rewrite r ON d.classid = '${catalogOids.pg_rewrite}' AND r.oid = d.objid
    LEFT JOIN pg_class c ON c.oid = r.ev_class
    WHERE NOT EXISTS (
      SELECT FROM pg_depend x
      WHERE x.deptype = 'e'
        AND ((x.classid = d.classid AND x.objid = d.objid) OR (x.classid = '${catalogOids.pg_class}' AND x.objid = r.ev_class))
    )
    ORDER BY 1, 2
  `,
  decode: decodeIncompatible,
  absent: [],
};

/**
 * The expressions that a dump writes out as text: the catalog row of which pg_depend has the dependencies, whether the
 * expression is evaluated for stored rows, the object as reports show it, and the node tree. Before PostgreSQL 15 the
 * table depends on what its generated columns use.
 */
export function dumpedTreesSql(version: number): string {
  const table = 'c.oid::regclass';
  const of = (catalog: keyof typeof catalogOids) => `'${catalogOids[catalog]}'::oid`;
  const isGenerated = version < 120_000 ? 'false' : "a.attgenerated = 's'";
  const dependent =
    version < 150_000
      ? `CASE WHEN ${isGenerated} THEN ${of('pg_class')} ELSE ${of('pg_attrdef')} END, CASE WHEN ${isGenerated} THEN c.oid ELSE d.oid END`
      : `${of('pg_attrdef')}, d.oid`;
  const body = version < 140_000 ? 'p.proargdefaults' : "concat(p.prosqlbody::text, ' ', p.proargdefaults::text)";
  return [
    `
      SELECT
        ${of('pg_rewrite')} AS catalog,
        r.oid,
        false AS stores,
        CASE c.relkind WHEN 'm' THEN 'materialized view ' WHEN 'v' THEN 'view ' ELSE 'rule of ' END || ${table} AS object,
        concat(r.ev_action::text, ' ', r.ev_qual::text) AS tree
      FROM pg_rewrite r
      JOIN pg_class c ON c.oid = r.ev_class
      WHERE r.oid >= '${firstNormalOid}'
        AND ${isNotMemberSql('pg_class', 'c.oid')}
    `,
    `
      SELECT
        ${of('pg_constraint')},
        k.oid,
        ${version < 180_000 ? 'true' : 'k.conenforced'},
        'constraint ' || quote_ident(k.conname) || ' on ' || CASE
          WHEN k.contypid <> '0' THEN k.contypid::regtype::text
          ELSE k.conrelid::regclass::text
        END,
        k.conbin::text
      FROM pg_constraint k
      WHERE k.oid >= '${firstNormalOid}' AND k.conbin IS NOT NULL
    `,
    `
      SELECT
        ${dependent},
        ${isGenerated},
        ${version < 120_000 ? "'default of '" : "CASE a.attgenerated WHEN '' THEN 'default of ' ELSE 'generated column ' END"} || ${table} || '.' || quote_ident(a.attname),
        d.adbin::text
      FROM pg_attrdef d
      JOIN pg_class c ON c.oid = d.adrelid
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = d.adnum
      WHERE d.oid >= '${firstNormalOid}'
    `,
    `
      SELECT
        ${of('pg_class')},
        i.indexrelid,
        i.indisunique OR i.indisexclusion,
        'index ' || i.indexrelid::regclass,
        concat(i.indexprs::text, ' ', i.indpred::text)
      FROM pg_index i
      WHERE i.indexrelid >= '${firstNormalOid}'
        AND (i.indexprs IS NOT NULL OR i.indpred IS NOT NULL)
    `,
    `
      SELECT
        ${of('pg_trigger')},
        t.oid,
        false,
        'trigger ' || quote_ident(t.tgname) || ' on ' || t.tgrelid::regclass,
        t.tgqual::text
      FROM pg_trigger t
      WHERE t.oid >= '${firstNormalOid}' AND t.tgqual IS NOT NULL
    `,
    `
      SELECT
        ${of('pg_policy')},
        p.oid,
        false,
        'policy ' || quote_ident(p.polname) || ' on ' || p.polrelid::regclass,
        concat(p.polqual::text, ' ', p.polwithcheck::text)
      FROM pg_policy p
    `,
    `
      SELECT ${of('pg_type')}, t.oid, false, 'default of ' || t.oid::regtype, t.typdefaultbin::text
      FROM pg_type t
      WHERE t.oid >= '${firstNormalOid}' AND t.typdefaultbin IS NOT NULL
    `,
    `
      SELECT ${of('pg_proc')}, p.oid, false, 'function ' || p.oid::regprocedure, ${body}
      FROM pg_proc p
      WHERE p.oid >= '${firstNormalOid}'
        AND (p.proargdefaults IS NOT NULL${version < 140_000 ? '' : ' OR p.prosqlbody IS NOT NULL'})
    `,
    ...(version < 100_000
      ? []
      : [
          `
            SELECT ${of('pg_class')}, p.partrelid, true, 'partition key of ' || p.partrelid::regclass, p.partexprs::text
            FROM pg_partitioned_table p
            WHERE p.partexprs IS NOT NULL
          `,
        ]),
    ...(version < 140_000
      ? []
      : [
          `
            SELECT
              ${of('pg_statistic_ext')},
              s.oid,
              false,
              'statistics ' || s.stxnamespace::regnamespace || '.' || quote_ident(s.stxname),
              s.stxexprs::text
            FROM pg_statistic_ext s
            WHERE s.stxexprs IS NOT NULL
          `,
        ]),
    ...(version < 150_000
      ? []
      : [
          `
            SELECT ${of('pg_publication_rel')}, r.oid, false, 'publication ' || quote_ident(p.pubname), r.prqual::text
            FROM pg_publication_rel r
            JOIN pg_publication p ON p.oid = r.prpubid
            WHERE r.prqual IS NOT NULL
          `,
        ]),
  ].join(' UNION ALL ');
}

const sharedPartnersSql = [
  ['negator', 'oprnegate'],
  ['commutator', 'oprcom'],
]
  .map(
    ([partner, column]) => `
      SELECT
        'operator ' || o.oid::regoperator AS object,
        '${partner} ' || p.oid::regoperator || ' of its own' AS needs,
        17 AS since,
        format('${partner} operator %s is already the ${partner} of operator %s', p.oprname, q.oprname) AS says
      FROM pg_operator o
      JOIN pg_operator p ON p.oid = o.${column}
      JOIN pg_operator q ON q.oid = p.${column}
      WHERE o.oid >= '${firstNormalOid}'
        AND q.oid <> o.oid
        AND ${isNotMemberSql('pg_operator', 'o.oid')}
    `,
  )
  .join(' UNION ALL ');

const arrayFunctions = [functionOids.array_append, functionOids.array_prepend, functionOids.array_cat].join(', ');
const polymorphicTypes = [typeOids.anyarray, typeOids.anyelement].join(', ');

/** The functions of the averages of intervals that PostgreSQL 17 removed. */
const intervalFunctions = '1843, 1844, 3325, 3549';

/**
 * Operators and aggregates that PostgreSQL 14 cannot create: it has no postfix operators, and its array_append,
 * array_prepend and array_cat take anycompatible types instead of anyarray and anyelement. Since PostgreSQL 17 an
 * operator can be the negator or commutator of one operator only, and an aggregate cannot use the functions of avg(interval).
 */
export const incompatibleOperatorsQuery: PostgresqlQuery<readonly IncompatibleObject[]> = {
  id: 'incompatible-operators',
  scope: 'database',
  sql: (version) => {
    if (version >= 170_000) return undefined;
    const intervals = `
      SELECT
        'aggregate ' || a.aggfnoid::regprocedure,
        'function ' || f.oid::regprocedure,
        17,
        NULL
      FROM pg_aggregate a
      JOIN pg_proc f ON f.oid IN (${intervalFunctions})
        AND f.oid IN (a.aggtransfn, a.aggfinalfn, a.aggcombinefn, a.aggmtransfn, a.aggminvtransfn, a.aggmfinalfn)
      WHERE a.aggfnoid >= '${firstNormalOid}'
        AND ${isNotMemberSql('pg_proc', 'a.aggfnoid')}
    `;
    const old = `
      SELECT
        'operator ' || o.oid::regoperator AS object,
        CASE o.oprkind
          WHEN 'r' THEN 'an operand on the right'
          ELSE 'anycompatible instead of ' || format_type(o.oprleft, NULL)
        END AS needs,
        14 AS since,
        NULL
      FROM pg_operator o
      WHERE o.oid >= '${firstNormalOid}'
        AND (o.oprkind = 'r' OR (o.oprcode IN (${arrayFunctions}) AND o.oprleft IN (${polymorphicTypes})))
        AND ${isNotMemberSql('pg_operator', 'o.oid')}
      UNION ALL
      SELECT
        'aggregate ' || a.aggfnoid::regprocedure,
        'anycompatible instead of ' || format_type(a.aggtranstype, NULL),
        14,
        NULL
      FROM pg_aggregate a
      WHERE a.aggfnoid >= '${firstNormalOid}'
        AND a.aggtransfn IN (${arrayFunctions})
        AND a.aggtranstype IN (${polymorphicTypes})
        AND ${isNotMemberSql('pg_proc', 'a.aggfnoid')}
    `;
    const parts = [sharedPartnersSql, intervals, ...(version < 140_000 ? [old] : [])];
    return `${parts.join(' UNION ALL ')} ORDER BY 1, 2`;
  },
  decode: decodeIncompatible,
  absent: [],
};
