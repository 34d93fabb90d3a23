import { fail, info, pass } from '../../finding.ts';
import { databaseCheck } from '../check.ts';
import { firstObjects, unlistedNote } from '../object-list.ts';
import { extensionTablesQuery } from '../queries/extensions.ts';
import { countText } from '../units.ts';

export const extTablesCheck = databaseCheck({
  id: 'ext-tables',
  title: 'no table of an extension contains rows',
  headline: 'A table of an extension contains rows',
  severity: { continuous: 'blocker' },
  queries: { filledTables: extensionTablesQuery },
  evaluate({ filledTables }, _database, _ground, { method }) {
    if (filledTables.length === 0) return pass('none');
    const objects = firstObjects(filledTables).map(({ name, extension }) => `${name} (${extension})`);
    const observed = countText(filledTables.length, 'table');
    if (method === 'dump') return info(observed, { detail: 'A dump leaves them to CREATE EXTENSION.', objects });
    return fail(['continuous'], observed, {
      required: 'none with rows',
      detail: `CREATE EXTENSION fills them on the target, and FOR ALL TABLES copies the same rows again: "duplicate key value violates unique constraint". The copy of the table is tried again for ever and holds a replication slot; where there is no key every row is there twice.${unlistedNote(filledTables)}`,
      objects,
      fix: {
        by: 'who owns the data',
        text: 'Migrate with the dump, drop the extension where nothing needs it, or leave the database out with ignore_dbs. The rows must not be deleted here: the extension lives on them.',
      },
    });
  },
});
