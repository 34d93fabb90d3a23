import { expect, test } from 'vitest';
import { type LinkStatus, recordLinkOutage, updateProgress } from '../../../../src/db/engine/redis/migrate.ts';
import { emptyProgress, snapshotProgress } from '../../../../src/db/engine/state.ts';

const status: Omit<LinkStatus, 'databases'> = {
  isUp: true,
  isCopying: false,
  lagBytes: 0,
  sourceOffset: 1,
  targetOffset: 1,
  writeMarker: '',
};

test('databases that neither server lists any more do not keep the phase of an outage', () => {
  const progress = emptyProgress();
  recordLinkOutage(progress, 'source_unreachable', 'no route');
  expect(snapshotProgress(progress)).toMatchObject({ status: 'running', reason: 'db0: no route' });
  progress.databases[0]!.lagBytes = 0;
  recordLinkOutage(progress, 'target_unreachable', 'no route');
  expect(snapshotProgress(progress).databases[0]?.lagBytes).toBeUndefined();
  updateProgress(progress, {
    ...status,
    databases: [{ name: 'db3', keys: { name: 'keys', stage: 'r', rows: 2 } }],
  });
  expect(snapshotProgress(progress)).toMatchObject({
    status: 'syncing',
    reason: undefined,
    databases: [
      { name: 'db0', phase: 'streaming', tables: [{ rows: 0 }] },
      { name: 'db3', phase: 'streaming', tables: [{ rows: 2 }] },
    ],
  });
});
