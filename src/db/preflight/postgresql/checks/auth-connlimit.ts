import { quoteIdentifier } from '../../../../postgresql/quote.ts';
import { passOutcome, resultEffect, roleEffect, warnOutcome } from '../../finding.ts';
import { declareServerCheck } from '../check.ts';
import { databasesQuery } from '../queries/cluster.ts';
import { migrationRoleQuery } from '../queries/roles.ts';

export const authConnlimitCheck = declareServerCheck({
  id: 'auth-connlimit',
  title: 'the connection limits of role and databases are sufficient',
  headline: 'A connection limit of the role or a database is too low',
  severity: { continuous: 'warning', dump: 'warning' },
  queries: { role: migrationRoleQuery, databases: databasesQuery },
  evaluate({ role, databases }, facts) {
    if (role.superuser) return passOutcome('the role is a superuser, which has no connection limit');
    const ours = databases.filter(({ name }) => facts.databases.includes(name));
    const tables = facts.copy?.tables ?? 0;
    const tight = [
      ...(role.connectionLimit >= 0 && role.connectionLimit < maxConnections(tables)
        ? [
            {
              what: `role ${role.name}`,
              database: undefined,
              limit: role.connectionLimit,
              alter: `ROLE ${quoteIdentifier(role.name)}`,
            },
          ]
        : []),
      ...ours.flatMap(({ name, connectionLimit }) =>
        connectionLimit >= 0 && connectionLimit < maxConnections(facts.copy?.perDatabase.get(name)?.tables ?? 0)
          ? [
              {
                what: `database ${name}`,
                database: name,
                limit: connectionLimit,
                alter: `DATABASE ${quoteIdentifier(name)}`,
              },
            ]
          : [],
      ),
    ];
    if (tight.length === 0) return passOutcome('sufficient');
    return warnOutcome(tight.map(({ what, limit }) => `${what} ${limit}`).join(', '), {
      required: 'no connection limit, or 2 connections plus 4 for each table',
      detail:
        'When the limit is reached, the server rejects connections: "too many connections for role" or "too many connections for database".',
      objects: tight.map(({ what, limit }) => `${what}: ${limit}`),
      fix: {
        sql: tight.map(({ alter }) => `ALTER ${alter} CONNECTION LIMIT -1`),
        undo: tight.map(({ alter, limit }) => `ALTER ${alter} CONNECTION LIMIT ${limit}`),
        effects: [
          ...(tight.some(({ database }) => database === undefined) ? [roleEffect({ unlimited: true })] : []),
          resultEffect(databasesQuery, (all) =>
            all.map((one) =>
              tight.some(({ database }) => database === one.name) ? { ...one, connectionLimit: -1 } : one,
            ),
          ),
        ],
        text: 'Remove the connection limit for the duration of the migration.',
      },
    });
  },
});

/** The maximum number of connections that the copy of this many tables can use. */
function maxConnections(tables: number): number {
  return 2 + 4 * tables;
}
