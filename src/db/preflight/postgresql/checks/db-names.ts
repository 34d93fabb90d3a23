import { quoteIdentifier } from '../../../../postgresql/quote.ts';
import { passOutcome, warnOutcome } from '../../finding.ts';
import { declareDatabaseCheck } from '../check.ts';
import { databasesQuery, findDatabase } from '../queries/cluster.ts';

export const dbNamesCheck = declareDatabaseCheck({
  id: 'db-names',
  title: 'the database name fits into a replication slot name',
  headline: 'The database name is too long for a replication slot name',
  severity: { continuous: 'warning', dump: 'warning' },
  queries: { databases: databasesQuery },
  evaluate({ databases }, database) {
    const found = findDatabase(databases, database);
    // Capitals and other characters migrate: the service derives the name of a slot from the name of the database.
    const length = found?.length ?? 0;
    if (length <= longestName) return passOutcome(database);
    return warnOutcome(database, {
      required: `at most ${longestName} bytes`,
      detail: `The database name has ${length} bytes, so a slot name built from it exceeds 63 bytes and is truncated.`,
      fix: {
        by: 'the owner of the database',
        text: `Rename the database while it has no connections (ALTER DATABASE ${quoteIdentifier(database)} RENAME TO …), or exclude it with --ignore-dbs.`,
      },
    });
  },
});

/**
 * The maximum length of a database name: 63 bytes of a slot name, less the prefix and suffix that migration engines
 * add.
 */
const longestName = 41;
