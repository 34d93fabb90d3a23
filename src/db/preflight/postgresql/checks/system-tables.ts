import { countOf } from '../../../../base/text.ts';
import { requoteName } from '../../../../postgresql/quote.ts';
import { type CheckOutcome, failOutcome, passOutcome, unknownOutcome, warnOutcome } from '../../finding.ts';
import { declareDatabaseCheck, limitObjects, unlistedNote } from '../check.ts';

import {
  changedCastsQuery,
  type SystemSchemaObject,
  systemObjectsQuery,
  systemTablesQuery,
} from '../queries/system-schema.ts';

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
