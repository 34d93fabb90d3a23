import { firstNormalObjectId } from '../../../../postgresql/catalog-oids.ts';
import type { PostgresqlPreflightQuery } from '../query.ts';
import { isNotExtensionMemberSql } from './catalog-predicates.ts';
import { decodeVersionIncompatibleObjects, type VersionIncompatibleObject } from './incompatible-object.ts';

/**
 * Operators and functions that later releases removed, as patterns of object ids: the factorial operators; containment
 * operators of geometric types and of aclitem; geometric functions that were never implemented; functions of exclusive
 * backups and of pg_stat_bgwriter.
 */
const removedCalls = [
  { operators: '388|389|28[67][0-9]', functions: '111', since: 14 },
  { operators: '970|1524|1382|156[68]', functions: '2172|2173|2739|381[34]', since: 15 },
  { operators: '0', functions: '2769|277[015]|3063|316[01]', since: 17 },
];

/** Stored expressions that call a removed operator or function, and that a dump writes out by name. */
export const versionIncompatibleCallsQuery: PostgresqlPreflightQuery<readonly VersionIncompatibleObject[]> = {
  id: 'incompatible-calls',
  scope: 'database',
  sql: (version) => {
    const parts = removedCalls
      .filter(({ since }) => since > version / 10_000)
      .map(
        ({ operators, functions, since }) => `
          SELECT DISTINCT
            o.object,
            CASE m.found[1]
              WHEN 'opno' THEN 'operator ' || m.found[2]::oid::regoperator
              ELSE 'function ' || m.found[2]::oid::regprocedure
            END AS needs,
            ${since} AS since
          FROM o
          CROSS JOIN LATERAL regexp_matches(o.tree, ':(opno|funcid) ([0-9]+) ', 'g') m(found)
          WHERE m.found[2] ~ CASE m.found[1] WHEN 'opno' THEN '^(${operators})$' ELSE '^(${functions})$' END
        `,
      );
    return parts.length === 0 ? undefined : `WITH o AS (${trees(version)}) ${parts.join(' UNION ALL ')} ORDER BY 1, 2`;
  },
  decode: decodeVersionIncompatibleObjects,
  absent: [],
};

function trees(version: number): string {
  const table = 'c.oid::regclass';
  return [
    `
      SELECT
        CASE c.relkind WHEN 'm' THEN 'materialized view ' WHEN 'v' THEN 'view ' ELSE 'rule of ' END || ${table} AS object,
        r.ev_action::text AS tree
      FROM pg_rewrite r
      JOIN pg_class c ON c.oid = r.ev_class
      WHERE r.oid >= '${firstNormalObjectId}'
        AND ${isNotExtensionMemberSql('pg_class', 'c.oid')}
    `,
    `
      SELECT
        'constraint ' || quote_ident(k.conname) || ' on ' || CASE
          WHEN k.contypid <> '0' THEN k.contypid::regtype::text
          ELSE k.conrelid::regclass::text
        END,
        k.conbin::text
      FROM pg_constraint k
      WHERE k.oid >= '${firstNormalObjectId}' AND k.conbin IS NOT NULL
    `,
    `
      SELECT 'default of ' || ${table} || '.' || quote_ident(a.attname), d.adbin::text
      FROM pg_attrdef d
      JOIN pg_class c ON c.oid = d.adrelid
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = d.adnum
      WHERE d.oid >= '${firstNormalObjectId}'
    `,
    `
      SELECT 'index ' || i.indexrelid::regclass, coalesce(i.indexprs::text, '') || coalesce(i.indpred::text, '')
      FROM pg_index i
      WHERE i.indexrelid >= '${firstNormalObjectId}'
        AND (i.indexprs IS NOT NULL OR i.indpred IS NOT NULL)
    `,
    `
      SELECT
        'policy ' || quote_ident(p.polname) || ' on ' || p.polrelid::regclass,
        coalesce(p.polqual::text, '') || coalesce(p.polwithcheck::text, '')
      FROM pg_policy p
    `,
    ...(version < 140_000
      ? []
      : [
          `
            SELECT 'function ' || p.oid::regprocedure, p.prosqlbody::text
            FROM pg_proc p
            WHERE p.oid >= '${firstNormalObjectId}'
              AND p.prosqlbody IS NOT NULL
          `,
        ]),
  ].join(' UNION ALL ');
}
