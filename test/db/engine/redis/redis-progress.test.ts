import { expect, test } from 'vitest';
import {
  createEmptyMigrationProgress,
  snapshotMigrationProgress,
} from '../../../../src/db/engine/migration-progress.ts';
import {
  recordRedisMigrationOutage,
  updateRedisMigrationProgress,
} from '../../../../src/db/engine/redis/redis-progress.ts';
import type { RedisReplicationStatus } from '../../../../src/db/engine/redis/redis-replication-status.ts';

const status: Omit<RedisReplicationStatus, 'databases'> = {
  isUp: true,
  isCopying: false,
  lagBytes: 0,
  sourceOffset: 1,
  targetOffset: 1,
  writeMarker: '',
};

test('databases that neither server lists any more do not keep the phase of an outage', () => {
  const progress = createEmptyMigrationProgress();
  recordRedisMigrationOutage(progress, 'source_unreachable', 'no route');
  expect(snapshotMigrationProgress(progress)).toMatchObject({ status: 'running', reason: 'db0: no route' });
  updateRedisMigrationProgress(progress, {
    ...status,
    databases: [{ name: 'db3', keys: { name: 'keys', stage: 'r', rows: 2 } }],
  });
  expect(snapshotMigrationProgress(progress)).toMatchObject({
    status: 'syncing',
    reason: undefined,
    databases: [
      { name: 'db0', phase: 'streaming', tables: [{ rows: 0 }] },
      { name: 'db3', phase: 'streaming', tables: [{ rows: 2 }] },
    ],
  });
});
