import { expect, test } from 'vitest';
import { Secret } from '../../../../src/base/secret.ts';
import { type LinkStatus, recordLinkOutage, updateProgress } from '../../../../src/db/engine/redis/migrate.ts';
import { isReplicaOf, replicaSettings } from '../../../../src/db/engine/redis/replica.ts';
import { emptyProgress, snapshotProgress } from '../../../../src/db/engine/state.ts';
import type { RedisEndpoint } from '../../../../src/redis/endpoint.ts';
import { parseInfo } from '../../../../src/redis/info.ts';

const source: RedisEndpoint = {
  host: 'cache.example.com',
  port: 6380,
  username: 'mover',
  password: new Secret('hunter22'),
  db: undefined,
  ssl: 'require',
};

test('a target connects to the source with the credentials of the request', () => {
  expect(replicaSettings(source)).toEqual({
    masteruser: 'mover',
    masterauth: 'hunter22',
    'tls-replication': 'yes',
  });
  const open = { ...source, username: undefined, password: undefined, ssl: 'disable' } as const;
  expect(replicaSettings(open)).toEqual({ masteruser: '', masterauth: '', 'tls-replication': 'no' });
});

test('a replica of another server, or none, does not follow the source', () => {
  const info = (role: string, host: string, port: number) =>
    parseInfo(`role:${role}\nmaster_host:${host}\nmaster_port:${port}\n`);
  expect(isReplicaOf(info('slave', 'cache.example.com', 6380), source)).toBe(true);
  expect(isReplicaOf(info('slave', '192.0.2.1', 6380), { ...source, address: '192.0.2.1' })).toBe(true);
  expect(isReplicaOf(info('slave', 'cache.example.com', 6379), source)).toBe(false);
  expect(isReplicaOf(info('slave', 'other.example.com', 6380), source)).toBe(false);
  expect(isReplicaOf(info('master', 'cache.example.com', 6380), source)).toBe(false);
});

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
