import { quoteIdentifier } from '../../../postgresql/quote.ts';
import { pass, warn } from '../../finding.ts';
import { databaseCheck } from '../check.ts';
import { findDatabase } from '../find-database.ts';
import { databasesQuery } from '../queries/databases.ts';

export const dbNamesCheck = databaseCheck({
  id: 'db-names',
  title: 'the database name fits into a replication slot name',
  headline: 'The database name does not fit into a replication slot name',
  severity: { continuous: 'warning', dump: 'warning' },
  queries: { databases: databasesQuery },
  evaluate({ databases }, database) {
    const found = findDatabase(databases, database);
    const odd = found?.plain === false;
    const long = (found?.length ?? 0) > longestName;
    if (!odd && !long) return pass(database);
    const why = [
      ...(odd
        ? [
            'Slots take lower-case letters, digits and underscores only: "replication slot name … contains invalid character". The service has to find another name for it.',
          ]
        : []),
      ...(long ? [`With ${found?.length} bytes a slot named after it is longer than 63 and is cut off.`] : []),
    ];
    return warn(database, {
      required: `lower-case letters, digits and underscores, at most ${longestName} bytes`,
      detail: why.join(' '),
      fix: {
        by: 'the owner of the database',
        text: `Rename it while nobody is connected (ALTER DATABASE ${quoteIdentifier(database)} RENAME TO …), or leave it out with ignore_dbs.`,
      },
    });
  },
});

/** 63 bytes of a slot, less what an engine puts around the name. */
const longestName = 41;
