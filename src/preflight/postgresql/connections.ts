import { quoteIdentifier } from '../../postgresql/quote.ts';
import { pass, warn } from '../finding.ts';
import { alterSystemFix } from './alter-system.ts';
import { serverCheck } from './check.ts';
import { connectionCapacityQuery } from './queries/connection-capacity.ts';
import { databasesQuery } from './queries/databases.ts';
import { migrationRoleQuery } from './queries/migration-role.ts';
import { settingsQuery } from './queries/settings.ts';
import { slotDemand } from './slots.ts';
import { serverVersionOf } from './source-facts.ts';
import { countText } from './units.ts';

export const authConnlimitCheck = serverCheck({
  id: 'auth-connlimit',
  title: 'no connection limit of role or database is in the way',
  needs: 'entry',
  queries: { role: migrationRoleQuery, databases: databasesQuery },
  evaluate({ role, databases }, ground) {
    if (role.superuser) return pass('a superuser is not limited');
    const ours = databases.filter(({ name }) => ground.databases.includes(name));
    const tables = ground.copy?.tables ?? 0;
    const tight = [
      ...(role.connectionLimit >= 0 && role.connectionLimit < wanted(tables)
        ? [{ what: `role ${role.name}`, limit: role.connectionLimit, alter: `ROLE ${quoteIdentifier(role.name)}` }]
        : []),
      ...ours.flatMap(({ name, connectionLimit }) =>
        connectionLimit >= 0 && connectionLimit < wanted(ground.copy?.perDatabase.get(name)?.tables ?? 0)
          ? [{ what: `database ${name}`, limit: connectionLimit, alter: `DATABASE ${quoteIdentifier(name)}` }]
          : [],
      ),
    ];
    if (tight.length === 0) return pass('no limit in the way');
    return warn(tight.map(({ what, limit }) => `${what} ${limit}`).join(', '), {
      required: 'none, or 2 + 4 for each table',
      detail: 'Beyond it the server refuses: "too many connections for role" or "too many connections for database".',
      objects: tight.map(({ what, limit }) => `${what}: ${limit}`),
      fix: {
        sql: tight.map(({ alter }) => `ALTER ${alter} CONNECTION LIMIT -1`),
        undo: tight.map(({ alter, limit }) => `ALTER ${alter} CONNECTION LIMIT ${limit}`),
        text: 'Lift the limit for the time of the migration.',
      },
    });
  },
});

/** Connections that so many tables may take while they are copied. */
function wanted(tables: number): number {
  return 2 + 4 * tables;
}

export const connHeadroomCheck = serverCheck({
  id: 'conn-headroom',
  title: 'connections are free for the migration',
  needs: 'entry',
  queries: { capacity: connectionCapacityQuery, settings: settingsQuery, role: migrationRoleQuery },
  evaluate({ capacity, settings, role }, ground) {
    const { max, used } = capacity;
    const kept = role.superuser ? 0 : capacity.reserved;
    const free = max - kept - used;
    const databases = ground.databases.length;
    // Before 12 senders took their places from the same number.
    const needed = serverVersionOf(ground) < 120_000 ? slotDemand(databases).full + 4 : 4;
    const observed = `${countText(free, 'connection')} free of ${max} (${used} used${kept === 0 ? '' : `, ${kept} reserved`})`;
    if (free >= needed) return pass(observed, { required: String(needed) });
    return warn(observed, {
      required: String(needed),
      detail: `The server would refuse: "${role.superuser ? 'sorry, too many clients already' : 'remaining connection slots are reserved'}".`,
      fix: alterSystemFix(
        settings,
        { max_connections: String(max + needed - free) },
        'Or close connections that idle.',
      ),
    });
  },
});
