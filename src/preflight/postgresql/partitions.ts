import { info, pass, warn } from '../finding.ts';
import { type Partitioned, partitions } from './asks/partitions.ts';
import { databaseCheck } from './check.ts';
import { shown, unlisted } from './names.ts';
import { count } from './units.ts';

export const partitionsCheck = databaseCheck({
  id: 'partitions',
  title: 'no partition will be made meanwhile',
  asks: { partitions },
  judge({ partitions }, _database, _ground, { method }) {
    const growing = partitions.filter(({ strategy }) => strategy !== 'hash');
    const objects = shown(partitions).map(described);
    if (partitions.length === 0) return pass('no partitioned table');
    const observed = count(partitions.length, 'partitioned table');
    if (growing.length === 0) return pass(`${observed}, by hash`, { objects });
    if (method === 'dump') return info(observed, { objects });
    return warn(observed, {
      required: 'all partitions of the next two weeks are there',
      detail: `A partition that is made while the migration runs is published at once and missing on the target: "logical replication target relation "…" does not exist", and the changes of the whole database stop there.${unlisted(partitions)}`,
      objects,
      fix: {
        by: 'who runs the job that makes partitions',
        text: 'Make the partitions of the next two weeks and more before the migration starts, and pause the job (pg_partman, pg_cron, the application) until it is over.',
      },
    });
  },
});

function described({ name, strategy, partitions, hasDefault }: Partitioned): string {
  return `${name} (${strategy}, ${count(partitions, 'partition')}${hasDefault ? ', one of them DEFAULT' : ''})`;
}
