import { builtinFunctionOids, builtinTypeOids, firstNormalObjectId } from '../../../../postgresql/catalog-oids.ts';
import type { PostgresqlPreflightQuery } from '../query.ts';
import { isNotExtensionMemberSql } from './catalog-predicates.ts';
import { decodeVersionIncompatibleObjects, type VersionIncompatibleObject } from './incompatible-object.ts';

const arrayFunctions = [
  builtinFunctionOids.array_append,
  builtinFunctionOids.array_prepend,
  builtinFunctionOids.array_cat,
].join(', ');
const polymorphicTypes = [builtinTypeOids.anyarray, builtinTypeOids.anyelement].join(', ');

/**
 * Operators and aggregates that PostgreSQL 14 cannot create: it has no postfix operators, and its array_append,
 * array_prepend and array_cat take anycompatible types instead of anyarray and anyelement.
 */
export const versionIncompatibleOperatorsAndAggregatesQuery: PostgresqlPreflightQuery<
  readonly VersionIncompatibleObject[]
> = {
  id: 'incompatible-operators',
  scope: 'database',
  sql: (version) =>
    version >= 140_000
      ? undefined
      : `
        SELECT
          'operator ' || o.oid::regoperator AS object,
          CASE o.oprkind
            WHEN 'r' THEN 'an operand on the right'
            ELSE 'anycompatible instead of ' || format_type(o.oprleft, NULL)
          END AS needs,
          14 AS since
        FROM pg_operator o
        WHERE o.oid >= '${firstNormalObjectId}'
          AND (o.oprkind = 'r' OR (o.oprcode IN (${arrayFunctions}) AND o.oprleft IN (${polymorphicTypes})))
          AND ${isNotExtensionMemberSql('pg_operator', 'o.oid')}
        UNION ALL
        SELECT
          'aggregate ' || a.aggfnoid::regprocedure,
          'anycompatible instead of ' || format_type(a.aggtranstype, NULL),
          14
        FROM pg_aggregate a
        WHERE a.aggfnoid >= '${firstNormalObjectId}'
          AND a.aggtransfn IN (${arrayFunctions})
          AND a.aggtranstype IN (${polymorphicTypes})
          AND ${isNotExtensionMemberSql('pg_proc', 'a.aggfnoid')}
        ORDER BY 1
      `,
  decode: decodeVersionIncompatibleObjects,
  absent: [],
};
