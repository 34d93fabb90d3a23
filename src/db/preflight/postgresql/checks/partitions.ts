import { countOf } from '../../../../base/text.ts';
import { requoteName } from '../../../../postgresql/quote.ts';
import {
  type CheckOutcome,
  failOutcome,
  infoOutcome,
  passOutcome,
  unknownOutcome,
  warnOutcome,
} from '../../finding.ts';
import { declareDatabaseCheck, limitObjects, unlistedNote } from '../check.ts';

import { type PartitionedTable, partitionedTablesQuery } from '../queries/partitioned-tables.ts';

export const partitionsCheck = declareDatabaseCheck({
  id: 'partitions',
  title: 'no partition is created during the migration, and each row belongs to the same partition on the target',
  headline: 'A partition created during the migration stops the replication',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: { partitions: partitionedTablesQuery },
  evaluate({ partitions }, database, _ground, { method }) {
    const unstable = partitions.filter(({ enumHashed }) => enumHashed);
    if (unstable.length > 0) return enumHashed(unstable, database);
    const moved = partitions.filter(({ numbered }) => numbered === 'violate');
    if (moved.length > 0) return objectIdentifierKeys(moved, database);
    const unattached = partitions.filter((one) => one.excluding !== undefined && one.partitions > 0);
    if (unattached.length > 0) return exclusionConstraints(unattached, database);
    const unseen = partitions.filter(({ numbered }) => numbered === 'unseen');
    if (unseen.length > 0) {
      const { observed, ...more } = objectIdentifierKeys(unseen, database);
      return {
        ...more,
        ...unknownOutcome(`${observed}, and their rows were not checked`),
        premise: 'every row belongs to the same partition on the target',
      };
    }
    const detaching = partitions.flatMap((one) => one.detaching.map((partition) => ({ table: one.name, partition })));
    if (detaching.length > 0) return interruptedDetach(detaching, database);
    const growing = partitions.filter(({ strategy, closed }) => strategy !== 'hash' && !closed);
    const objects = limitObjects(partitions).map(described);
    if (partitions.length === 0) return passOutcome('no partitioned table');
    const observed = countOf(partitions.length, 'partitioned table');
    if (growing.length === 0) {
      const isHashed = partitions.every(({ strategy }) => strategy === 'hash');
      return passOutcome(`${observed}, by hash${isHashed ? '' : ' or a boolean'}`, { objects });
    }
    if (method === 'dump') return infoOutcome(observed, { objects });
    return warnOutcome(observed, {
      required: 'all partitions for the next two weeks exist already',
      detail: `A partition that is created during the migration is published immediately but missing on the target, which stops the replication of the whole database: "logical replication target relation "…" does not exist".${unlistedNote(partitions)}`,
      objects,
      fix: {
        by: 'the operator of the partitioning job',
        text: 'Create the partitions of at least the next two weeks before the migration starts, and pause the job that creates them (pg_partman, pg_cron, the application) until the migration has finished.',
      },
    });
  },
});

function interruptedDetach(
  found: readonly { readonly table: string; readonly partition: string }[],
  database: string,
): CheckOutcome {
  return warnOutcome(countOf(found.length, 'partition'), {
    headline: 'A partition is being detached',
    required: 'no interrupted DETACH PARTITION … CONCURRENTLY',
    detail: `Queries of these tables leave out the rows of the partitions. A dump contains the partitions as attached, so the tables have these rows again on the target.${unlistedNote(found)}`,
    objects: limitObjects(found).map(({ table, partition }) => `${partition} of ${table}`),
    fix: {
      database,
      by: 'the owner of the tables',
      review: found.map(
        ({ table, partition }) =>
          `ALTER TABLE ${requoteName(table)} DETACH PARTITION ${requoteName(partition)} FINALIZE`,
      ),
      text: 'Complete the detachment before the migration (DETACH PARTITION … FINALIZE).',
    },
  });
}

function enumHashed(found: readonly PartitionedTable[], database: string): CheckOutcome {
  return failOutcome(['continuous', 'dump'], `${countOf(found.length, 'table')} partitioned by the hash of an enum`, {
    headline: 'A table is partitioned by the hash of an enum',
    required: 'no partitioning by the hash of an enum',
    detail: `The hash of an enum value is computed from an OID that differs on the target, so rows belong to other partitions on the target: "new row for relation … violates partition constraint". The copy of each partition is retried endlessly.${unlistedNote(found)}`,
    objects: limitObjects(found).map(described),
    fix: {
      by: 'the schema owner',
      text: `Partition the table by another column, by LIST, or by the enum as text; or exclude the database (--ignore-dbs ${database}) and migrate it with pg_dump --load-via-partition-root.`,
    },
  });
}

function objectIdentifierKeys(found: readonly PartitionedTable[], database: string): CheckOutcome {
  return failOutcome(['continuous', 'dump'], `${countOf(found.length, 'table')} partitioned by an object identifier`, {
    headline: 'A table is partitioned by an object identifier',
    required: 'no HASH or RANGE partitioning by regclass, regtype, regrole or a similar type',
    detail: `Tables, types, functions, schemas and roles have other OIDs on the target, so rows that contain an OID belong to other partitions on the target: "new row for relation … violates partition constraint". The copy of each partition is retried endlessly.${unlistedNote(found)}`,
    objects: limitObjects(found).map(described),
    fix: {
      by: 'the schema owner',
      text: `Partition the table by LIST, or by the name of the object as text; or exclude the database (--ignore-dbs ${database}) and migrate it with pg_dump --load-via-partition-root.`,
    },
  });
}

function exclusionConstraints(found: readonly PartitionedTable[], database: string): CheckOutcome {
  return failOutcome(['continuous', 'dump'], `${countOf(found.length, 'table')} with an EXCLUDE constraint`, {
    headline: 'A partitioned table has an EXCLUDE constraint',
    required: 'no EXCLUDE constraint on a partitioned table',
    detail: `A dump creates the index of an EXCLUDE constraint separately for every partition, and no such index can be attached: "cannot attach index … as a partition of index …". The schema cannot be restored.${unlistedNote(found)}`,
    objects: limitObjects(found).map(({ name, excluding }) => `${name} (${excluding})`),
    fix: {
      database,
      by: 'the owner of the tables, or a superuser',
      text: 'Drop the EXCLUDE constraints before the migration (ALTER TABLE … DROP CONSTRAINT …), or define them on the partitions only, and add the constraints on the target after the cut-over.',
    },
  });
}

function described({ name, strategy, partitions, hasDefault }: PartitionedTable): string {
  return `${name} (${strategy}, ${countOf(partitions, 'partition')}${hasDefault ? ', one of them DEFAULT' : ''})`;
}
