import { schemaOid, serverSpecificTypes, typeOid } from '../../../postgresql/catalog-oids.ts';
import type { PostgresqlQuery } from '../query.ts';
import { whenPresent } from './database-overview.ts';
import { decodeText } from './decode.ts';
import { grantMonitorRole } from './grants.ts';
import { nestedValuesSql } from './nested-values.ts';
import { canScanRowsSql, queryIsTrueSql, type RowScanResult, rowScanResultOf } from './row-scan.ts';

/** A column whose values another server may not accept. */
export interface ServerSpecificColumn {
  readonly table: string;
  /** Quoted. */
  readonly column: string;
  /** `pg_node_tree`, `aclitem[]`, `regclass`, `money`; for a domain, an array or a composite the type inside. */
  readonly type: string;
  /** `violate`: a row holds a value that another server does not accept. */
  readonly rows: RowScanResult;
}

const query = (from: string): string => `'SELECT EXISTS (SELECT 1 FROM ONLY %s r%s${from}) AS v'`;

/** Privileges of roles that do not exist any more, which are written as object ids. 0 stands for PUBLIC. */
const ofNobody = query(
  `
    CROSS JOIN LATERAL aclexplode(%s) x
    WHERE NOT EXISTS (SELECT 1 FROM pg_roles o WHERE o.oid = x.grantor)
      OR (x.grantee <> 0 AND NOT EXISTS (SELECT 1 FROM pg_roles o WHERE o.oid = x.grantee))
  `,
);

/** aclexplode rejects an empty array and an array with NULL. */
const oneRight = "'CASE WHEN %1$s IS NOT NULL THEN ARRAY[%1$s::aclitem] END'";
const rights = "'CASE WHEN cardinality(%1$s) > 0 THEN %1$s::aclitem[] END'";

/** Names of relations that the target does not have: TOAST tables and temporary tables. */
const notCopied = query(
  `
    CROSS JOIN LATERAL unnest(ARRAY[%s::%s]) x(it)
    JOIN pg_class o ON o.oid = x.it::oid
    WHERE o.relnamespace = ${schemaOid.pg_toast} OR o.relpersistence = ''t''
  `,
);

const there = query(' WHERE %s IS NOT NULL');

/** money in the format of the default lc_monetary. Settings of the role and the database apply to the copy as well. */
const asUsual = "1234.56::numeric::money::text = '$1,234.56' AND (-1234.56)::numeric::money::text = '-$1,234.56'";

export const serverSpecificColumnsQuery: PostgresqlQuery<readonly ServerSpecificColumn[]> = {
  id: 'server-specific-columns',
  scope: 'database',
  when: whenPresent('callables'),
  sql: (version) => `
    SELECT
      o.name,
      o.attname,
      o.type::text AS type,
      CASE
        WHEN o.type IN ('${typeOid.money}', '${typeOid.moneyArray}') THEN NOT (${asUsual})
        WHEN o.query IS NOT NULL THEN ${queryIsTrueSql('o.query')}
      END AS violated
    FROM (
      SELECT
        v.relid::regclass AS name,
        quote_ident(v.attname) AS attname,
        v.type::regtype AS type,
        CASE
          WHEN ${canScanRowsSql('c')}
            THEN CASE
              WHEN v.type IN ('${typeOid.aclitem}', '${typeOid.aclitemArray}')
                THEN format(
                  ${ofNobody},
                  v.relid::regclass,
                  v.sources,
                  format(CASE v.type WHEN '${typeOid.aclitem}' THEN ${oneRight} ELSE ${rights} END, v.expr)
                )
              WHEN v.type IN ('${typeOid.regclass}', '${typeOid.regclassArray}')
                THEN format(${notCopied}, v.relid::regclass, v.sources, v.expr, v.type::regtype)
              ELSE format(${there}, v.relid::regclass, v.sources, v.expr)
            END
        END AS query
      FROM ${nestedValuesSql(version, serverSpecificTypes)} v
      JOIN pg_class c ON c.oid = v.relid
    ) o
    ORDER BY 1, 2
  `,
  decode: (rows) =>
    rows.map((row) => ({
      table: decodeText(row, 'name'),
      column: decodeText(row, 'attname'),
      type: decodeText(row, 'type'),
      rows: rowScanResultOf(decodeText(row, 'violated'), true),
    })),
  absent: [],
  grant: grantMonitorRole,
};
