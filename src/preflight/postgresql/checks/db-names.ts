import { quoteIdentifier } from '../../../postgresql/quote.ts';
import { passOutcome, warnOutcome } from '../../finding.ts';
import { declareDatabasePreflightCheck } from '../check.ts';
import { findPostgresqlDatabase } from '../find-database.ts';
import { databasesQuery } from '../queries/databases.ts';

export const dbNamesCheck = declareDatabasePreflightCheck({
  id: 'db-names',
  title: 'the database name is valid in a replication slot name',
  headline: 'The database name is not valid in a replication slot name',
  severity: { continuous: 'warning', dump: 'warning' },
  queries: { databases: databasesQuery },
  evaluate({ databases }, database) {
    const found = findPostgresqlDatabase(databases, database);
    const odd = found?.plain === false;
    const long = (found?.length ?? 0) > longestName;
    if (!odd && !long) return passOutcome(database);
    const why = [
      ...(odd
        ? [
            'A replication slot name can contain only lower-case letters, digits and underscores: "replication slot name … contains invalid character". The service must derive another name.',
          ]
        : []),
      ...(long
        ? [
            `The database name has ${found?.length} bytes, so a slot name built from it exceeds 63 bytes and is truncated.`,
          ]
        : []),
    ];
    return warnOutcome(database, {
      required: `lower-case letters, digits and underscores, at most ${longestName} bytes`,
      detail: why.join(' '),
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
