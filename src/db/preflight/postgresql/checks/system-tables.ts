import { countOf } from '../../../../base/text.ts';
import { catalogOids, firstNormalOid } from '../../../../postgresql/catalog-oids.ts';
import { requoteName } from '../../../../postgresql/quote.ts';
import { type CheckOutcome, failOutcome, passOutcome, unknownOutcome, warnOutcome } from '../../finding.ts';
import { declareDatabaseCheck, limitObjects, unlistedNote } from '../check.ts';
import { isChangedCastSql, isNotMemberSql, misplacedTableSql } from '../queries/catalog-predicates.ts';
import { featureCondition } from '../queries/database-overview.ts';
import { column, columns, type RowOf, rowsQuery } from '../query.ts';

/** An object of a user in a system schema, other than a table; a dump does not contain it. */
type SystemSchemaObject = RowOf<typeof systemObjectsQuery>;

const inSystem = `
  IN (SELECT s.oid FROM pg_namespace s WHERE s.nspname = 'information_schema' OR s.nspname = 'pg_catalog')
`;

/**
 * Row types and array types are left out, because they are created with their tables and element types. Collations of
 * pg_catalog are left out, because initdb may have created them from those of the operating system.
 */
const lost = [
  `
    SELECT '${catalogOids.pg_proc}'::oid AS class, p.oid
    FROM pg_proc p
    WHERE p.oid >= '${firstNormalOid}'
      AND p.pronamespace ${inSystem}
  `,
  `
    SELECT '${catalogOids.pg_operator}', p.oid
    FROM pg_operator p
    WHERE p.oid >= '${firstNormalOid}'
      AND p.oprnamespace ${inSystem}
  `,
  `
    SELECT '${catalogOids.pg_type}', p.oid
    FROM pg_type p
    WHERE p.oid >= '${firstNormalOid}'
      AND p.typnamespace ${inSystem}
      AND p.typrelid = '0'
      AND p.typcategory <> 'A'
  `,
  `
    SELECT '${catalogOids.pg_class}', p.oid
    FROM pg_class p
    WHERE p.oid >= '${firstNormalOid}'
      AND p.relnamespace ${inSystem}
      AND p.relkind IN ('v', 'm', 'S', 'f')
  `,
].join(' UNION ALL ');

const systemObjectsQuery = rowsQuery({
  id: 'system-schema-objects',
  scope: 'database',
  when: featureCondition('system-objects'),
  sql: () => `
    WITH a AS (${lost}),
    l AS (
      SELECT a.*
      FROM a
      WHERE NOT EXISTS (
        SELECT FROM pg_depend e
        WHERE e.classid = a.class
          AND e.objid = a.oid
          AND (e.deptype = 'e' OR (a.class = '${catalogOids.pg_type}' AND e.deptype = 'i'))
      )
    )
    SELECT
      pg_describe_object(l.class, l.oid, 0) AS name,
      (
        SELECT min(pg_describe_object(d.classid, d.objid, d.objsubid))
        FROM pg_depend d
        WHERE d.refclassid = l.class
          AND d.refobjid = l.oid
          AND d.deptype = 'n'
          AND NOT EXISTS (
            SELECT FROM l o
            WHERE (o.class = d.classid AND o.oid = d.objid)
              OR (
                d.classid = '${catalogOids.pg_rewrite}'
                  AND o.class = '${catalogOids.pg_class}'
                  AND o.oid = (SELECT r.ev_class FROM pg_rewrite r WHERE r.oid = d.objid)
              )
          )
      ) AS used_by
    FROM l
    ORDER BY 1
  `,
  row: columns({
    /** The object, as pg_describe_object formats it: `function text(integer)`. */
    name: column.text('name'),
    /**
     * An object outside of the system schemas that depends on the object of the user: `cast from integer to text`;
     * undefined if there is none.
     */
    user: column.optionalText('used_by'),
  }),
});

/** Casts of PostgreSQL itself whose row in pg_cast was changed: `UPDATE pg_cast SET castcontext = 'i'`. */
const changedCastsQuery = rowsQuery({
  id: 'changed-casts',
  scope: 'database',
  when: featureCondition('changed-casts'),
  sql: () => `
    SELECT pg_describe_object('${catalogOids.pg_cast}', c.oid, 0) AS name
    FROM pg_cast c
    WHERE ${isChangedCastSql}
    ORDER BY 1
  `,
  row: column.text('name'),
});

/** Tables of users in a system schema. Tables of extensions are left out, because CREATE EXTENSION creates them on the target as well. */
const systemTablesQuery = rowsQuery({
  id: 'system-schema-tables',
  scope: 'database',
  when: featureCondition('system-tables'),
  sql: () => `
    SELECT
      quote_ident(n.nspname) || '.' || quote_ident(c.relname) AS name,
      quote_ident(n.nspname) AS schema,
      'public.' || quote_ident(c.relname) AS moved
    FROM pg_class c
    JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE ${misplacedTableSql}
      AND ${isNotMemberSql('pg_class', 'c.oid')}
  `,
  row: columns({
    name: column.text('name'),
    schema: column.text('schema'),
    /** The name of the table after ALTER TABLE … SET SCHEMA public. */
    moved: column.text('moved'),
  }),
});

export const systemTablesCheck = declareDatabaseCheck({
  id: 'system-tables',
  title: 'no user object is in a system schema',
  headline: 'A user object is in a system schema',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: {
    systemTables: systemTablesQuery,
    systemObjects: systemObjectsQuery,
    changedCasts: changedCastsQuery,
  },
  evaluate({ systemTables, systemObjects, changedCasts }, database) {
    const needed = systemObjects.filter(({ user }) => user !== undefined);
    if (needed.length > 0) return requiredObjects(needed, database);
    if (systemTables.length === 0 && changedCasts.length > 0) return alteredCasts(changedCasts, database);
    if (systemTables.length === 0)
      return systemObjects.length === 0 ? passOutcome('none') : omittedObjects(systemObjects, database);
    const observed = countOf(systemTables.length, 'table');
    const names = systemTables.map(({ name }) => name);
    return failOutcome(['continuous'], observed, {
      required: 'no user table in information_schema, pg_catalog or another system schema',
      detail: `A publication FOR ALL TABLES contains tables in system schemas but a dump omits them, so the subscription does not find them on the target and the whole database is not replicated: "relation "${names[0]}" does not exist". A dump omits tables in system schemas without an error.${unlistedNote(systemTables)}`,
      objects: limitObjects(names),
      dataLoss: `the rows of ${observed} in system schemas`,
      fix: {
        sql: systemTables.map(({ name }) => `ALTER TABLE IF EXISTS ${requoteName(name)} SET SCHEMA public`),
        undo: systemTables.map(
          ({ moved, schema }) => `ALTER TABLE IF EXISTS ${requoteName(moved)} SET SCHEMA ${requoteName(schema)}`,
        ),
        notSimulated: 'no other check sees tables in system schemas',
        database,
        by: 'a superuser',
        text: 'Move the tables to public or another user schema and adapt the application. Drop tables that were created in a system schema by mistake.',
      },
    });
  },
});

const moveFix = {
  by: 'a superuser',
  text: 'Move the objects to a user schema (ALTER FUNCTION, OPERATOR, TYPE or VIEW … SET SCHEMA): dependent objects follow, and names without a schema are resolved by search_path. Drop unused objects.',
};

function requiredObjects(needed: readonly SystemSchemaObject[], database: string): CheckOutcome {
  const [first] = needed;
  return failOutcome(['continuous', 'dump'], `${countOf(needed.length, 'object')} with dependent objects`, {
    required: 'no user object in information_schema or pg_catalog',
    detail: `A dump omits objects in system schemas, so the schema cannot be restored: ${first?.user} needs ${first?.name}, which "does not exist" on the target.${unlistedNote(needed)}`,
    objects: limitObjects(needed).map(({ name, user }) => `${name} (${user})`),
    fix: { database, ...moveFix },
  });
}

function alteredCasts(casts: readonly string[], database: string): CheckOutcome {
  return {
    ...unknownOutcome(countOf(casts.length, 'changed cast')),
    headline: 'A cast of PostgreSQL was changed',
    premise: 'no definition and no statement of the application needs the changed casts',
    required: 'none',
    detail: `A dump omits casts of PostgreSQL itself, so the target has them unchanged: a DEFAULT or a view that uses a changed cast implicitly cannot be restored ("column … is of type boolean but default expression is of type integer"), and statements of the application fail in the same way.${unlistedNote(casts)}`,
    objects: limitObjects(casts),
    fix: {
      database,
      by: 'a superuser',
      text: 'Write the casts explicitly in definitions and statements (1::boolean), and restore castcontext in pg_cast; or change pg_cast on the target in the same way, if its service allows it.',
    },
  };
}

function omittedObjects(objects: readonly SystemSchemaObject[], database: string): CheckOutcome {
  return warnOutcome(countOf(objects.length, 'object'), {
    required: 'none in information_schema or pg_catalog',
    detail: `A dump omits objects in system schemas without an error: the objects are missing on the target, and functions whose body refers to them fail there.${unlistedNote(objects)}`,
    objects: limitObjects(objects).map(({ name }) => name),
    fix: { database, ...moveFix },
  });
}
