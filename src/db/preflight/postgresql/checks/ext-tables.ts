import { countOf } from '../../../../base/text.ts';
import { failOutcome, infoOutcome, passOutcome } from '../../finding.ts';
import { declareDatabaseCheck, limitObjects, unlistedNote } from '../check.ts';
import { extensionTablesQuery } from '../queries/cluster.ts';

export const extensionTablesCheck = declareDatabaseCheck({
  id: 'ext-tables',
  title: 'no table of an extension contains rows',
  headline: 'A table of an extension contains rows',
  severity: { continuous: 'blocker' },
  queries: { filledTables: extensionTablesQuery },
  evaluate({ filledTables }, _database, _ground, { method }) {
    if (filledTables.length === 0) return passOutcome('none');
    const objects = limitObjects(filledTables).map(({ name, extension }) => `${name} (${extension})`);
    const observed = countOf(filledTables.length, 'table');
    if (method === 'dump')
      return infoOutcome(observed, {
        detail: 'A dump does not contain the rows of such tables; CREATE EXTENSION inserts them on the target.',
        objects,
      });
    return failOutcome(['continuous'], observed, {
      required: 'none with rows',
      detail: `CREATE EXTENSION inserts the rows on the target, and a publication FOR ALL TABLES copies the same rows again: "duplicate key value violates unique constraint". The copy of the table is retried endlessly and occupies a replication slot; without a key every row is duplicated.${unlistedNote(filledTables)}`,
      objects,
      fix: {
        by: 'the data owner',
        text: 'Migrate with a dump, drop the extension if it is unused, or exclude the database with --ignore-dbs. Do not delete the rows: the extension needs them.',
      },
    });
  },
});
