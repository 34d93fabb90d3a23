import { firstNormalOid } from '../../../../postgresql/catalog-oids.ts';
import type { PostgresqlQuery } from '../query.ts';
import { functionKindSql, isNotMemberSql } from './catalog-predicates.ts';
import { featureCondition } from './database-overview.ts';
import { decodeIncompatible, type IncompatibleObject } from './incompatible-calls.ts';

/** Begins what an object needs whose name the target gives to another object. */
export const takenNameNeed = 'a name that ';

/**
 * Views, tables, types and functions with a name that the target gives to a member of an extension, or to what it creates
 * with a range type. Members were taken out by ALTER EXTENSION … DROP, or the installed version does not have them yet.
 * Every view and table has a row in pg_type.
 */
export const takenNamesQuery: PostgresqlQuery<readonly IncompatibleObject[]> = {
  id: 'taken-names',
  scope: 'database',
  when: featureCondition('extensions', 'ranges'),
  sql: (version) => {
    const members = `
      SELECT
        ${relationOrTypeSql} AS object,
        '${takenNameNeed}the extension ' || x.extname || ' does not use' AS needs,
        CASE WHEN m.since > ${Math.floor(version / 10_000)} THEN m.since ELSE 0 END AS since,
        format('%s "%s" already exists', CASE WHEN c.relkind <> 'c' THEN 'relation' ELSE 'type' END, t.typname) AS says
      FROM (VALUES ${memberTypes.map(({ extension, names, since = 0 }) => names.map((name) => `('${extension}', '${name}', ${since})`).join(', ')).join(', ')}) m (extension, name, since)
      JOIN pg_extension x ON x.extname = m.extension
      JOIN pg_type t ON t.typname = m.name AND t.typnamespace = x.extnamespace
      LEFT JOIN pg_class c ON c.oid = t.typrelid
      WHERE ${isNotMemberSql('pg_type', 't.oid')}
        AND (c.oid IS NULL OR ${isNotMemberSql('pg_class', 'c.oid')})
    `;
    if (version >= 140_000) return `${members} ORDER BY 1`;
    return `
      WITH r AS (
        SELECT
          y.oid,
          y.typarray,
          y.typnamespace,
          '${takenNameNeed}the multirange type of ' || y.oid::regtype || ' does not have' AS needs,
          ${multirangeNameSql} AS name
        FROM pg_type y
        WHERE y.typtype = 'r'
          AND y.oid >= '${firstNormalOid}'
          AND ${isNotMemberSql('pg_type', 'y.oid')}
      )
      ${members}
      UNION ALL
      SELECT ${relationOrTypeSql}, r.needs, 14, format('type "%s" already exists', t.typname)
      FROM r
      JOIN pg_type t ON t.typname = r.name AND t.typnamespace = r.typnamespace
      LEFT JOIN pg_class c ON c.oid = t.typrelid
      WHERE NOT EXISTS (SELECT FROM pg_type e WHERE e.typarray = t.oid)
      UNION ALL
      SELECT 'type ' || r.oid::regtype, r.needs, 14, format('type "%s" already exists', r.name)
      FROM r
      WHERE EXISTS (
        SELECT FROM r o
        WHERE o.oid <> r.oid
          AND o.typnamespace = r.typnamespace
          AND o.name = r.name
      )
      UNION ALL
      SELECT
        ${functionKindSql(version)} || ' ' || p.oid::regprocedure,
        r.needs,
        14,
        format('function "%s" already exists with same argument types', p.proname)
      FROM r
      JOIN pg_proc p ON p.proname = r.name
        AND p.pronamespace = r.typnamespace
        AND p.proargtypes::text IN ('', r.oid::text, r.typarray::text)
      ORDER BY 1
    `;
  },
  decode: decodeIncompatible,
  absent: [],
};

const relationOrTypeSql = `
  CASE c.relkind
    WHEN 'v' THEN 'view ' || c.oid::regclass
    WHEN 'm' THEN 'materialized view ' || c.oid::regclass
    WHEN 'S' THEN 'sequence ' || c.oid::regclass
    WHEN 'c' THEN 'type ' || t.oid::regtype
    ELSE coalesce('table ' || c.oid::regclass, 'type ' || t.oid::regtype)
  END
`;

/**
 * The name that PostgreSQL 14 and newer give to the multirange type of a range type (alias `y`), and to its three
 * constructors: without arguments, for a range, and for an array of ranges. A conversion to name cuts it after 63 bytes.
 */
const multirangeNameSql = `
  (
    CASE
      WHEN strpos(y.typname::text, 'range') > 0 THEN regexp_replace(y.typname::text, 'range', 'multirange')
      ELSE left(y.typname::text, 52) || '_multirange'
    END
  )::name
`;

/** The views and types of contrib extensions, with the first release that has them if not every one has. */
const memberTypes: readonly {
  readonly extension: string;
  readonly names: readonly string[];
  readonly since?: number;
}[] = [
  { extension: 'pg_buffercache', names: ['pg_buffercache'] },
  { extension: 'pg_buffercache', names: ['pg_buffercache_numa'], since: 18 },
  { extension: 'pg_stat_statements', names: ['pg_stat_statements'] },
  { extension: 'pg_stat_statements', names: ['pg_stat_statements_info'], since: 14 },
  { extension: 'btree_gist', names: ['gbtreekey4', 'gbtreekey8', 'gbtreekey16', 'gbtreekey32', 'gbtreekey_var'] },
  { extension: 'btree_gist', names: ['gbtreekey2'], since: 16 },
  { extension: 'citext', names: ['citext'] },
  { extension: 'cube', names: ['cube'] },
  { extension: 'dblink', names: ['dblink_pkey_results'] },
  { extension: 'earthdistance', names: ['earth'] },
  { extension: 'hstore', names: ['hstore', 'ghstore'] },
  { extension: 'intarray', names: ['query_int', 'intbig_gkey'] },
  { extension: 'isn', names: ['ean13', 'isbn', 'isbn13', 'ismn', 'ismn13', 'issn', 'issn13', 'upc'] },
  { extension: 'lo', names: ['lo'] },
  { extension: 'ltree', names: ['ltree', 'lquery', 'ltxtquery', 'ltree_gist'] },
  { extension: 'pg_trgm', names: ['gtrgm'] },
  { extension: 'seg', names: ['seg'] },
  { extension: 'tablefunc', names: ['tablefunc_crosstab_2', 'tablefunc_crosstab_3', 'tablefunc_crosstab_4'] },
];
