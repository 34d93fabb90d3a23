import { fail, pass } from '../finding.ts';
import { systemTables } from './asks/system-tables.ts';
import { databaseCheck } from './check.ts';
import { shown, unlisted } from './names.ts';
import { count } from './units.ts';

export const systemTablesCheck = databaseCheck({
  id: 'system-tables',
  title: 'no table was made in a schema of the system',
  asks: { systemTables },
  judge({ systemTables }, database) {
    if (systemTables.length === 0) return pass('none');
    const observed = count(systemTables.length, 'table');
    const names = systemTables.map(({ name }) => name);
    return fail(['continuous'], observed, {
      required: 'none in information_schema, pg_catalog or another schema of the system',
      detail: `FOR ALL TABLES publishes them and no dump has them, so that the subscription finds no such table on the target and the whole database is not replicated: "relation "${names[0]}" does not exist". A dump leaves them out and says nothing.${unlisted(systemTables)}`,
      objects: shown(names),
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
