import { countOf } from '../../../../base/text.ts';
import { firstNormalOid } from '../../../../postgresql/catalog-oids.ts';
import { infoOutcome, passOutcome, warnOutcome } from '../../finding.ts';
import { declareDatabaseCheck, limitObjects, unlistedNote } from '../check.ts';
import { extensionsQuery } from '../queries/cluster.ts';
import { featureCondition } from '../queries/database-overview.ts';
import { column, rowsQuery } from '../query.ts';

/** Tables created or altered in the last day, at most 100; empty unless track_commit_timestamp is on. */
const changedTablesQuery = rowsQuery({
  id: 'recent-ddl',
  scope: 'database',
  when: featureCondition('commit-times'),
  sql: () => `
    SELECT c.oid::regclass AS name
    FROM pg_class c
    WHERE current_setting('track_commit_timestamp') = 'on'
      AND c.oid >= '${firstNormalOid}'
      AND (c.relkind = 'r' OR c.relkind = 'p')
      AND c.relpersistence <> 't'
      AND pg_xact_commit_timestamp(c.xmin) > now() - interval '1 day'
    LIMIT 100
  `,
  row: column.text('name'),
});

export const ddlActivityCheck = declareDatabaseCheck({
  id: 'ddl-activity',
  title: 'no table was created or altered in the last 24 hours',
  headline: 'Tables change, or can change, during the migration',
  severity: { continuous: 'warning' },
  queries: { extensions: extensionsQuery, recentDdl: changedTablesQuery },
  evaluate({ extensions, recentDdl }, _database, _ground, { method }) {
    const makers = extensions.map(({ name }) => name).filter((name) => tableCreatingExtensions.has(name));
    // An extension that can create tables changes nothing by being there.
    if (recentDdl.length === 0) return passOutcome('none');
    const changed = `${countOf(recentDdl.length, 'table')} created or altered in the last 24 hours`;
    const observed = [changed, ...makers].join('; ');
    if (method === 'dump') return infoOutcome(observed);
    return warnOutcome(observed, {
      required: 'no CREATE, ALTER or DROP TABLE until the migration has finished',
      detail: `Changes of the schema (DDL) are not replicated. A new column stops the replication of the whole database with "logical replication target relation … is missing replicated column", a new table with "… does not exist".${makers.length === 0 ? '' : ` ${makers.join(' and ')} can create tables automatically.`}${unlistedNote(recentDdl)}`,
      objects: limitObjects(recentDdl),
      fix: {
        by: 'the schema owner',
        text: 'Postpone schema changes and pause jobs that create tables until the migration has finished.',
      },
    });
  },
});

/** Extensions that run scheduled statements, or that create tables automatically. */
const tableCreatingExtensions: ReadonlySet<string> = new Set([
  'pg_cron',
  'pg_partman',
  'timescaledb',
  'pg_timetable',
  'pg_pathman',
]);
