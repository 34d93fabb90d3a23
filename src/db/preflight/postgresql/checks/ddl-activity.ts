import { countOf } from '../../../../base/text.ts';
import { firstNormalOid } from '../../../../postgresql/catalog-oids.ts';
import { decodeText } from '../../../../postgresql/rows.ts';
import {
  type CheckOutcome,
  infoOutcome,
  passOutcome,
  skipOutcome,
  unknownOutcome,
  warnOutcome,
} from '../../finding.ts';
import { declareDatabaseCheck, limitObjects, unlistedNote } from '../check.ts';
import { type BodyDdl, bodyDdlQuery } from '../queries/body-ddl.ts';
import { lockedRelationsSql } from '../queries/catalog-predicates.ts';
import { extensionsQuery } from '../queries/cluster.ts';
import { featureCondition, featuresQuery } from '../queries/database-overview.ts';
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

/** Whether pg_partman has partitioned tables: its maintenance creates partitions, and drops old ones. */
const maintainedPartitionsQuery = rowsQuery<BodyDdl>({
  id: 'maintained-partitions',
  scope: 'database',
  when: featureCondition('extensions'),
  sql: () => `
    SELECT e.extname AS name
    FROM pg_extension e
    CROSS JOIN LATERAL unnest(e.extconfig) t (oid)
    JOIN pg_class c ON c.oid = t.oid
    WHERE e.extname = 'pg_partman'
      AND c.relname = 'part_config'
      AND CASE
        WHEN c.relpages > 0 THEN true
        WHEN c.oid IN ${lockedRelationsSql} THEN false
        ELSE pg_relation_size(c.oid) > 0
      END
  `,
  row: (row) => ({
    by: `the maintenance of ${decodeText(row, 'name')}`,
    statements: ['CREATE TABLE', 'DROP TABLE'],
    partition: true,
  }),
});

export const ddlActivityCheck = declareDatabaseCheck({
  id: 'ddl-activity',
  title: 'no table was created or altered in the last 24 hours, and no function creates or alters any',
  headline: 'Tables change, or can change, during the migration',
  severity: { continuous: 'blocker' },
  queries: {
    extensions: extensionsQuery,
    overview: featuresQuery,
    recentDdl: changedTablesQuery,
    bodies: bodyDdlQuery,
    maintained: maintainedPartitionsQuery,
  },
  evaluate({ extensions, overview, recentDdl, bodies, maintained }, _database, _ground, { method }) {
    const makers = extensions.map(({ name }) => name).filter((name) => tableCreatingExtensions.has(name));
    const changed =
      recentDdl.length === 0 ? [] : [`${countOf(recentDdl.length, 'table')} created or altered in the last 24 hours`];
    const making = [...maintained, ...bodies];
    if (making.length > 0) return runByFunctions(making, recentDdl, changed);
    // An extension that can create tables changes nothing by being there.
    if (changed.length === 0)
      return overview.present.has('commit-times')
        ? passOutcome('none')
        : skipOutcome('the source does not record when tables change (track_commit_timestamp is off)');
    const observed = [...changed, ...makers].join('; ');
    if (method === 'dump') return infoOutcome(observed);
    return warnOutcome(observed, {
      required: 'no CREATE, ALTER or DROP TABLE until the migration has finished',
      detail: `${impact}${makers.length === 0 ? '' : ` ${makers.join(' and ')} can create tables automatically.`}${unlistedNote(recentDdl)}`,
      objects: limitObjects(recentDdl),
      fix: {
        by: 'the schema owner',
        text: 'Postpone schema changes and pause jobs that create tables until the migration has finished.',
      },
    });
  },
});

const impact =
  'Changes of the schema (DDL) are not replicated. A new column stops the replication of the whole database with "logical replication target relation … is missing replicated column", a new table with "… does not exist".';

/** Whether a function runs is not known: only track_functions would count its calls, and not those to come. */
function runByFunctions(
  bodies: readonly BodyDdl[],
  recentDdl: readonly string[],
  changed: readonly string[],
): CheckOutcome {
  const fired = bodies.flatMap(({ triggerOf }) => triggerOf ?? []);
  const byTrigger =
    fired.length === 0
      ? ''
      : ` ${countOf(fired.length, 'function is', 'functions are')} run by INSERT, UPDATE or DELETE of the application, through triggers of ${limitObjects([...new Set(fired)]).join(', ')}.`;
  const named = bodies.slice(0, 3).map(({ by }) => by);
  const more = bodies.length > named.length ? ` and ${bodies.length - named.length} more` : '';
  const objects = [
    ...bodies.map(
      ({ by, statements, triggerOf }) =>
        `${by} (${statements.join(', ')}${triggerOf === undefined ? '' : `, by a trigger of ${triggerOf}`})`,
    ),
    ...recentDdl,
  ];
  return {
    ...unknownOutcome([`${countOf(bodies.length, 'function')} with DDL`, ...changed].join('; ')),
    headline: 'Functions create, alter or drop tables',
    required: 'no CREATE, ALTER or DROP of tables, schemas, types and sequences until the migration has finished',
    premise: `no function with DDL runs during the migration (${named.join(', ')}${more})`,
    settledBy: 'not running them, then --accept ddl-activity',
    detail: `${impact} A table that is dropped and created again keeps its old rows on the target, and in a table that is created without a key UPDATE and DELETE fail on the source. Whether the functions run is not known.${byTrigger}${unlistedNote(objects)}`,
    objects: limitObjects(objects),
    fix: {
      by: 'the operator of the application',
      text: 'Do not run these functions until the cut-over, and pause the jobs that call them. Create the partitions and child tables of the next two weeks before the migration starts, or later on both servers. A function that needs a table for itself can use a temporary one.',
    },
  };
}

/** Extensions that run scheduled statements, or that create tables automatically. */
const tableCreatingExtensions: ReadonlySet<string> = new Set([
  'pg_cron',
  'pg_partman',
  'timescaledb',
  'pg_timetable',
  'pg_pathman',
]);
