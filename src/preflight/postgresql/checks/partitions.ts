import { type CheckOutcome, fail, info, pass, unknown, warn } from '../../finding.ts';
import { databaseCheck } from '../check.ts';
import { firstObjects, unlistedNote } from '../object-list.ts';
import { type PartitionedTable, partitionedTablesQuery } from '../queries/partitioned-tables.ts';
import { countText } from '../units.ts';

export const partitionsCheck = databaseCheck({
  id: 'partitions',
  title: 'partitioned tables can be copied and need no new partition',
  headline: 'A partitioned table can stop the migration',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: { partitions: partitionedTablesQuery },
  evaluate({ partitions }, database, _ground, { method }) {
    const unstable = partitions.filter(({ enumHashed }) => enumHashed);
    if (unstable.length > 0) return misplaced(unstable, database);
    const moved = partitions.filter(({ numbered }) => numbered === 'violate');
    if (moved.length > 0) return misnumbered(moved, database);
    const unattached = partitions.filter((one) => one.excluding !== undefined && one.partitions > 0);
    if (unattached.length > 0) return unattachable(unattached, database);
    const unseen = partitions.filter(({ numbered }) => numbered === 'unseen');
    if (unseen.length > 0) {
      const { observed = '', ...more } = misnumbered(unseen, database);
      return { ...more, ...unknown(`${observed}, and nobody looked at their rows`) };
    }
    const growing = partitions.filter(({ strategy, closed }) => strategy !== 'hash' && !closed);
    const objects = firstObjects(partitions).map(described);
    if (partitions.length === 0) return pass('no partitioned table');
    const observed = countText(partitions.length, 'partitioned table');
    if (growing.length === 0) {
      const isHashed = partitions.every(({ strategy }) => strategy === 'hash');
      return pass(`${observed}, by hash${isHashed ? '' : ' or a boolean'}`, { objects });
    }
    if (method === 'dump') return info(observed, { objects });
    return warn(observed, {
      required: 'all partitions of the next two weeks are there',
      detail: `A partition that is made while the migration runs is published at once and missing on the target: "logical replication target relation "…" does not exist", and the changes of the whole database stop there.${unlistedNote(partitions)}`,
      objects,
      fix: {
        by: 'who runs the job that makes partitions',
        text: 'Make the partitions of the next two weeks and more before the migration starts, and pause the job (pg_partman, pg_cron, the application) until it is over.',
      },
    });
  },
});

function misplaced(found: readonly PartitionedTable[], database: string): CheckOutcome {
  return fail(['continuous', 'dump'], `${countText(found.length, 'table')} by the hash of an enum`, {
    required: 'no hash of an enum',
    detail: `The hash of an enum is that of a number which the target gives anew, so that rows belong into other partitions there: "new row for relation … violates partition constraint". Each partition is copied by itself, and tried again for ever.${unlistedNote(found)}`,
    objects: firstObjects(found).map(described),
    fix: {
      by: 'who owns the schema',
      text: `Partition by another column, by LIST, or by the text of the enum; or leave the database out (--ignore-dbs ${database}) and bring it with pg_dump --load-via-partition-root.`,
    },
  });
}

function misnumbered(found: readonly PartitionedTable[], database: string): CheckOutcome {
  return fail(['continuous', 'dump'], `${countText(found.length, 'table')} by the number of an object`, {
    required: 'no hash and no range of regclass, regtype, regrole and their like',
    detail: `Tables, types, functions, schemas and roles have other numbers on the target, so that rows which name them belong into other partitions there: "new row for relation … violates partition constraint". Each partition is copied by itself, and tried again for ever.${unlistedNote(found)}`,
    objects: firstObjects(found).map(described),
    fix: {
      by: 'who owns the schema',
      text: `Partition by LIST, or by the name as a text; or leave the database out (--ignore-dbs ${database}) and bring it with pg_dump --load-via-partition-root.`,
    },
  });
}

function unattachable(found: readonly PartitionedTable[], database: string): CheckOutcome {
  return fail(['continuous', 'dump'], `${countText(found.length, 'table')} with an EXCLUDE constraint`, {
    required: 'no EXCLUDE constraint on a partitioned table',
    detail: `A dump makes the index of every partition by itself, and none can be attached: "cannot attach index … as a partition of index …". The schema cannot be made.${unlistedNote(found)}`,
    objects: firstObjects(found).map(({ name, excluding }) => `${name} (${excluding})`),
    fix: {
      database,
      by: 'the owner of the tables, or a superuser',
      text: 'Drop the constraints before the migration (ALTER TABLE … DROP CONSTRAINT …), or put them on the partitions alone, and add them on the target after the cut-over.',
    },
  });
}

function described({ name, strategy, partitions, hasDefault }: PartitionedTable): string {
  return `${name} (${strategy}, ${countText(partitions, 'partition')}${hasDefault ? ', one of them DEFAULT' : ''})`;
}
