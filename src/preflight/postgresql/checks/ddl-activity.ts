import { info, pass, warn } from '../../finding.ts';
import { databaseCheck } from '../check.ts';
import { firstObjects, unlistedNote } from '../object-list.ts';
import { extensionsQuery } from '../queries/extensions.ts';
import { recentDdlQuery } from '../queries/recent-ddl.ts';
import { countText } from '../units.ts';

export const ddlActivityCheck = databaseCheck({
  id: 'ddl-activity',
  title: 'no table was created or altered in the last 24 hours',
  headline: 'Tables change, or can change, during the migration',
  severity: { continuous: 'warning' },
  queries: { extensions: extensionsQuery, recentDdl: recentDdlQuery },
  evaluate({ extensions, recentDdl }, _database, _ground, { method }) {
    const makers = extensions.map(({ name }) => name).filter((name) => tableMakers.has(name));
    if (makers.length + recentDdl.length === 0) return pass('no sign of change');
    const parts = [
      ...(recentDdl.length === 0 ? [] : [`${countText(recentDdl.length, 'table')} made or altered within a day`]),
      ...(makers.length === 0 ? [] : [makers.join(', ')]),
    ];
    const observed = parts.join('; ');
    if (method === 'dump') return info(observed);
    return warn(observed, {
      required: 'no CREATE, ALTER or DROP of a table until the migration is over',
      detail: `Statements that change tables are not replicated: a new column says "logical replication target relation … is missing replicated column", a new table "… does not exist", and the changes of the whole database stop there.${makers.length === 0 ? '' : ` ${makers.join(' and ')} may make tables unasked.`}${unlistedNote(recentDdl)}`,
      objects: firstObjects(recentDdl),
      fix: {
        by: 'who changes the schema',
        text: 'Hold back releases that change the schema, and pause jobs that make tables, until the migration is over.',
      },
    });
  },
});

/** Extensions that run statements by the clock or make tables behind the scenes. */
const tableMakers: ReadonlySet<string> = new Set([
  'pg_cron',
  'pg_partman',
  'timescaledb',
  'pg_timetable',
  'pg_pathman',
]);
