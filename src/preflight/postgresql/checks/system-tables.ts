import { type CheckOutcome, fail, pass, warn } from '../../finding.ts';
import { databaseCheck } from '../check.ts';
import { firstObjects, unlistedNote } from '../object-list.ts';
import { type SystemSchemaObject, systemSchemaObjectsQuery } from '../queries/system-schema-objects.ts';
import { systemSchemaTablesQuery } from '../queries/system-schema-tables.ts';
import { countText } from '../units.ts';

export const systemTablesCheck = databaseCheck({
  id: 'system-tables',
  title: 'no user object is in a system schema',
  headline: 'A user object is in a system schema',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: { systemTables: systemSchemaTablesQuery, systemObjects: systemSchemaObjectsQuery },
  evaluate({ systemTables, systemObjects }, database) {
    const needed = systemObjects.filter(({ user }) => user !== undefined);
    if (needed.length > 0) return unmade(needed, database);
    if (systemTables.length === 0) return systemObjects.length === 0 ? pass('none') : leftOut(systemObjects, database);
    const observed = countText(systemTables.length, 'table');
    const names = systemTables.map(({ name }) => name);
    return fail(['continuous'], observed, {
      required: 'none in information_schema, pg_catalog or another schema of the system',
      detail: `FOR ALL TABLES publishes them and no dump has them, so that the subscription finds no such table on the target and the whole database is not replicated: "relation "${names[0]}" does not exist". A dump leaves them out and says nothing.${unlistedNote(systemTables)}`,
      objects: firstObjects(names),
      dataLoss: `the rows of ${observed} in schemas of the system`,
      fix: {
        sql: systemTables.map(({ name }) => `ALTER TABLE IF EXISTS ${name} SET SCHEMA public`),
        undo: systemTables.map(({ moved, schema }) => `ALTER TABLE IF EXISTS ${moved} SET SCHEMA ${schema}`),
        database,
        by: 'a superuser',
        text: 'Move them to a schema of your own, public or another one, and let the application find them there. What was made there by accident can be dropped.',
      },
    });
  },
});

const elsewhere = {
  by: 'a superuser',
  text: 'Move them to a schema of your own (ALTER FUNCTION, OPERATOR, TYPE or VIEW … SET SCHEMA): what needs them goes with them, and names without a schema are found by the search_path. What nobody needs can be dropped.',
};

function unmade(needed: readonly SystemSchemaObject[], database: string): CheckOutcome {
  const [first] = needed;
  return fail(['continuous', 'dump'], `${countText(needed.length, 'object')} that others need`, {
    required: 'none in information_schema or pg_catalog',
    detail: `No dump has what is in a schema of the system, so that the schema cannot be made: ${first?.user} needs ${first?.name}, which "does not exist" on the target.${unlistedNote(needed)}`,
    objects: firstObjects(needed).map(({ name, user }) => `${name} (${user})`),
    fix: { database, ...elsewhere },
  });
}

function leftOut(objects: readonly SystemSchemaObject[], database: string): CheckOutcome {
  return warn(countText(objects.length, 'object'), {
    required: 'none in information_schema or pg_catalog',
    detail: `No dump has what is in a schema of the system, and nobody says so: the target is without them, and what names them in a text fails there.${unlistedNote(objects)}`,
    objects: firstObjects(objects).map(({ name }) => name),
    fix: { database, ...elsewhere },
  });
}
