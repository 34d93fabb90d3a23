import { catalogOids, firstNormalOid, typeOids } from '../../../../postgresql/catalog-oids.ts';
import { decodeBoolean, decodeText, decodeTextArray } from '../../../../postgresql/rows.ts';
import { column, columns, type PostgresqlQuery, type RowOf, rowsQuery } from '../query.ts';
import { isMemberSql } from './catalog-predicates.ts';
import { featureCondition, hasStoredExpressions } from './database-overview.ts';

/** When a catalog row was written: the transaction, the command in it, and the transaction that locked or deleted it. */
export interface RowVersion {
  readonly xmin: number;
  readonly cmin: number;
  readonly xmax: number;
}

/** An object that users or extensions created and that an expression can call. */
export interface CallableObject {
  /** The catalog and the object id: `1255:16400`. */
  readonly id: string;
  readonly kind: 'function' | 'operator' | 'operator class' | 'type' | 'configuration' | 'dictionary';
  readonly schema: string;
  readonly name: string;
  /** The extension that created the object; empty if a user created it. */
  readonly extension: string;
  /** Whether PostgreSQL itself has an object with the same name. */
  readonly isAlsoBuiltin: boolean;
  /** The schemas of the SET search_path clause of a function, as the clause has them. */
  readonly path: string;
  /** The names of the settings in SET clauses of a function, in lower case. */
  readonly sets: readonly string[];
  /** Source text, where the query of function bodies does not return it. */
  readonly body: string;
  /** The language of a function: `c`, `sql`, `plpython3u`; empty for other objects. */
  readonly language: string;
  /** The rows of the catalogs that define the object. */
  readonly versions: readonly RowVersion[];
  /** The objects that this one calls, by `id`. */
  readonly calls: readonly string[];
}

export interface CallableObjects {
  readonly objects: readonly CallableObject[];
  /** Whether the order of the catalog rows is known: pg_upgrade writes all of them anew, and xmin wraps around. */
  readonly isOrderKnown: boolean;
  /**
   * Text search configurations and dictionaries of pg_catalog that were altered: no dump has them. `initdb` creates them
   * before the tables of information_schema.
   */
  readonly alteredSearch: readonly string[];
}

export const callableObjectsQuery: PostgresqlQuery<CallableObjects> = {
  id: 'callable-objects',
  scope: 'database',
  when: hasStoredExpressions,
  sql: () => `
    SELECT
      o.*,
      (
        SELECT x.extname
        FROM pg_depend m
        JOIN pg_extension x ON x.oid = m.refobjid
        WHERE m.classid = o.classid
          AND m.objid = o.oid
          AND m.deptype = 'e'
        LIMIT 1
      ) AS extension
    FROM (${callableObjectsSql()}) o
  `,
  decode: (rows) => {
    const [server] = rows.filter(({ kind }) => kind === 'server');
    return {
      objects: rows.flatMap((row) => {
        const kind = objectKinds.find((one) => one === row.kind);
        if (kind === undefined) return [];
        return {
          id: `${decodeText(row, 'classid')}:${decodeText(row, 'oid')}`,
          kind,
          schema: decodeText(row, 'schema'),
          name: decodeText(row, 'name'),
          extension: decodeText(row, 'extension'),
          isAlsoBuiltin: decodeBoolean(row, 'is_builtin'),
          path: decodeText(row, 'path'),
          sets: decodeTextArray(row, 'sets'),
          body: decodeText(row, 'body'),
          language: decodeText(row, 'language'),
          versions: decodeTextArray(row, 'versions').map(decodeVersion),
          calls: decodeTextArray(row, 'calls'),
        };
      }),
      isOrderKnown: decodeBoolean(server, 'is_builtin'),
      alteredSearch: server === undefined ? [] : decodeTextArray(server, 'calls'),
    };
  },
  absent: { objects: [], isOrderKnown: true, alteredSearch: [] },
};

/** SQL condition: pg_upgrade wrote no catalogs, and no transaction id is so large that ids wrapped around. */
const isOrderKnownSql = `
  txid_snapshot_xmax(txid_current_snapshot()) < 2147483648
    AND EXISTS (
      SELECT FROM pg_class
      WHERE oid < '${firstNormalOid}'
        AND relkind IN ('r', 'm', 't')
        AND xmin::text::bigint <= 2
    )
`;

/** A text search dictionary whose options are not those that its extension creates: no dump has them. */
export type AlteredDictionary = RowOf<typeof alteredDictionariesQuery>;

/**
 * The options that the extensions of PostgreSQL create are known, also after pg_upgrade. A dictionary of another extension
 * was written with the row of pg_depend that makes it a member.
 */
export const alteredDictionariesQuery = rowsQuery({
  id: 'altered-dictionaries',
  scope: 'database',
  when: featureCondition('dictionaries'),
  sql: () => `
    SELECT o.oid::regdictionary AS name, x.extname, o.dictinitoption
    FROM pg_ts_dict o
    JOIN pg_depend m ON m.classid = '${catalogOids.pg_ts_dict}'
      AND m.objid = o.oid
      AND m.deptype = 'e'
    JOIN pg_extension x ON x.oid = m.refobjid
    WHERE CASE x.extname
      WHEN 'dict_int' THEN o.dictinitoption IS NOT NULL
      WHEN 'dict_xsyn' THEN o.dictinitoption IS NOT NULL
      WHEN 'unaccent' THEN coalesce(replace(o.dictinitoption, '''', ''), '') <> 'rules = unaccent'
      ELSE ${isOrderKnownSql} AND (o.xmin <> m.xmin OR o.cmin::text <> m.cmin::text)
    END
    ORDER BY 1
  `,
  row: columns({
    /** Qualified. */
    name: column.text('name'),
    extension: column.text('extname'),
    /** As pg_ts_dict has them; empty if there are none. */
    options: column.text('dictinitoption'),
  }),
});

const objectKinds: readonly CallableObject['kind'][] = [
  'function',
  'operator',
  'operator class',
  'type',
  'configuration',
  'dictionary',
];

/** One text for each row, because an array of records would have to be parsed twice. */
export function rowVersionSql(alias: string): string {
  return `${alias}.xmin || ':' || ${alias}.cmin || ':' || ${alias}.xmax`;
}

export function decodeVersion(text: string): RowVersion {
  const [xmin = 0, cmin = 0, xmax = 0] = text.split(':').map(Number);
  return { xmin, cmin, xmax };
}

export function callableCatalogSql(column: string): string {
  const { pg_proc, pg_operator, pg_opclass, pg_type, pg_ts_config, pg_ts_dict } = catalogOids;
  return `${column} IN (${[pg_proc, pg_operator, pg_opclass, pg_type, pg_ts_config, pg_ts_dict].map((oid) => `'${oid}'`).join(', ')})`;
}

/** The object ids of catalogs that the object depends on, as text. */
function callsSql(catalog: keyof typeof catalogOids, oid: string): string {
  return `
    SELECT d.refclassid || ':' || d.refobjid
    FROM pg_depend d
    WHERE d.classid = '${catalogOids[catalog]}'
      AND d.objid = ${oid}
      AND d.refobjid >= '${firstNormalOid}'
      AND ${callableCatalogSql('d.refclassid')}
  `;
}

function callableObjectsSql(): string {
  const { pg_proc, pg_operator, pg_ts_dict } = catalogOids;
  const user = (column: string) => `${column} >= '${firstNormalOid}'`;
  const isResolvedLater = `l.lanname IN ('sql', 'plpgsql') AND NOT ${isMemberSql('pg_proc', 'o.oid')}`;
  const isBuiltin = (catalog: string, name: string) =>
    `EXISTS (SELECT FROM ${catalog} b WHERE b.${name} = o.${name} AND b.oid < '${firstNormalOid}')`;
  return [
    `
      SELECT
        'server' AS kind,
        '0'::oid AS classid,
        '0'::oid AS oid,
        NULL::text AS schema,
        NULL::text AS name,
        ${isOrderKnownSql} AS is_builtin,
        NULL::text AS path,
        NULL::text[] AS sets,
        NULL::text AS body,
        NULL::text AS language,
        NULL::text[] AS versions,
        ARRAY(
          SELECT DISTINCT x.name
          FROM (
            SELECT c.cfgname::text AS name, m.xmin
            FROM pg_ts_config_map m
            JOIN pg_ts_config c ON c.oid = m.mapcfg
            WHERE c.oid < '${firstNormalOid}'
            UNION ALL
            SELECT dictname, xmin FROM pg_ts_dict WHERE oid < '${firstNormalOid}'
          ) x
          WHERE txid_snapshot_xmax(txid_current_snapshot()) < 2147483648
            AND x.xmin::text::bigint > (
              SELECT min(c.xmin::text::bigint)
              FROM pg_class c
              WHERE c.oid < '${firstNormalOid}'
                AND c.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = 'information_schema')
            )
        ) AS calls
    `,
    userObjectsSql('function', 'pg_proc', 'pro', {
      isBuiltin: isBuiltin('pg_proc', 'proname'),
      path: "(SELECT substr(g, 13) FROM unnest(o.proconfig) g WHERE left(g, 12) = 'search_path=' LIMIT 1)",
      sets: "ARRAY(SELECT lower(split_part(g, '=', 1)) FROM unnest(o.proconfig) g)",
      body: `CASE WHEN l.lanname IN ('c', 'internal') OR (${isResolvedLater}) THEN NULL ELSE o.prosrc END`,
      language: 'l.lanname',
      calls: `ARRAY(${callsSql('pg_proc', 'o.oid')})`,
      rest: `JOIN pg_language l ON l.oid = o.prolang WHERE ${user('o.oid')} AND o.prorettype <> '${typeOids.trigger}'`,
    }),
    userObjectsSql('operator', 'pg_operator', 'opr', {
      isBuiltin: isBuiltin('pg_operator', 'oprname'),
      calls: `ARRAY(${callsSql('pg_operator', 'o.oid')})`,
    }),
    userObjectsSql('operator class', 'pg_opclass', 'opc', {
      versions: `
        ARRAY[${rowVersionSql('o')}]
          || ARRAY(SELECT ${rowVersionSql('m')} FROM pg_amproc m WHERE m.amprocfamily = o.opcfamily)
          || ARRAY(SELECT ${rowVersionSql('m')} FROM pg_amop m WHERE m.amopfamily = o.opcfamily)
      `,
      calls: `
        ARRAY(SELECT '${pg_proc}:' || m.amproc::oid FROM pg_amproc m WHERE m.amprocfamily = o.opcfamily)
          || ARRAY(SELECT '${pg_operator}:' || m.amopopr FROM pg_amop m WHERE m.amopfamily = o.opcfamily)
      `,
    }),
    userObjectsSql('type', 'pg_type', 'typ', {
      versions: `ARRAY(SELECT ${rowVersionSql('k')} FROM pg_constraint k WHERE k.contypid = o.oid)`,
      calls: `
        ARRAY(
          SELECT r.calls
          FROM pg_constraint k
          CROSS JOIN LATERAL (${callsSql('pg_constraint', 'k.oid')}) r (calls)
          WHERE k.contypid = o.oid
        )
          || ARRAY(
            SELECT '${pg_proc}:' || x.castfunc
            FROM pg_cast x
            WHERE ${user('x.castfunc')} AND (x.castsource = o.oid OR x.casttarget = o.oid)
          )
      `,
      rest: `
        WHERE ${user('o.oid')}
          AND (
            (o.typtype = 'd' AND EXISTS (SELECT FROM pg_constraint k WHERE k.contypid = o.oid))
              OR EXISTS (
                SELECT FROM pg_cast x
                WHERE ${user('x.castfunc')} AND (x.castsource = o.oid OR x.casttarget = o.oid)
              )
              OR (o.typtype = 'b' AND o.typname = 'ltree')
          )
      `,
    }),
    userObjectsSql('configuration', 'pg_ts_config', 'cfg', {
      versions: `
        ARRAY[${rowVersionSql('o')}]
          || ARRAY(SELECT ${rowVersionSql('m')} FROM pg_ts_config_map m WHERE m.mapcfg = o.oid)
      `,
      calls: `ARRAY(SELECT DISTINCT '${pg_ts_dict}:' || m.mapdict FROM pg_ts_config_map m WHERE m.mapcfg = o.oid)`,
    }),
    userObjectsSql('dictionary', 'pg_ts_dict', 'dict', {}),
  ].join(' UNION ALL ');
}

/** The objects of users in one catalog (alias `o`), whose columns begin with `prefix`. */
function userObjectsSql(
  kind: CallableObject['kind'],
  catalog: keyof typeof catalogOids,
  prefix: string,
  {
    isBuiltin = 'false',
    path = 'NULL',
    sets = 'NULL',
    body = 'NULL',
    language = 'NULL',
    versions = `ARRAY[${rowVersionSql('o')}]`,
    calls = 'NULL',
    rest = `WHERE o.oid >= '${firstNormalOid}'`,
  }: Readonly<
    Partial<Record<'isBuiltin' | 'path' | 'sets' | 'body' | 'language' | 'versions' | 'calls' | 'rest', string>>
  >,
): string {
  const columns = [isBuiltin, path, sets, body, language, versions, calls];
  return `
    SELECT '${kind}', '${catalogOids[catalog]}', o.oid, n.nspname, o.${prefix}name, ${columns.join(', ')}
    FROM ${catalog} o
    JOIN pg_namespace n ON n.oid = o.${prefix}namespace
    ${rest}
  `;
}
