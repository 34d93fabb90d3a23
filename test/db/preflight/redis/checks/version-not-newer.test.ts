import { redisVersionNotNewerCheck } from '../../../../../src/db/preflight/redis/checks/version-not-newer.ts';
import { both, checkCases } from '../check-cases.ts';
import { healthy } from '../recordings.ts';

const valkey9 = (more: Parameters<typeof healthy>[0] = {}) =>
  healthy({ ...more, info: { redis_version: '7.2.4', valkey_version: '9.1.2', server_name: 'valkey', ...more.info } });

checkCases(redisVersionNotNewerCheck, {
  older: { options: { targetVersion: 'redis-7.4' }, status: 'pass' },
  'the same': { options: { targetVersion: '7.2.4' }, status: 'pass' },
  newer: { options: { targetVersion: '6.2' }, status: 'fail', blocks: both },
  'newer by a minor version without a new format': {
    server: healthy({ info: { redis_version: '6.2.1' } }),
    options: { targetVersion: '6.0' },
    status: 'fail',
    blocks: ['continuous', 'scan'],
  },
  'not told': { options: { targetVersion: undefined }, status: 'unknown' },
  'not readable': { options: { targetVersion: 'latest' }, status: 'unknown' },
  'two meanings': {
    server: healthy({ info: { redis_version: '7.4.0' } }),
    options: { targetVersion: '8' },
    status: 'unknown',
  },
  'a candidate of the first format that no Valkey reads': {
    server: healthy({ info: { redis_version: '7.3.240' } }),
    options: { targetVersion: 'valkey-8' },
    status: 'fail',
    blocks: both,
  },
  'Valkey to a Redis at least as new as the one it is like': {
    server: healthy({ info: { redis_version: '7.2.4', valkey_version: '8.0.1', server_name: 'valkey' } }),
    options: { targetVersion: 'redis-7.4' },
    status: 'pass',
  },
  'Valkey to an older Redis': {
    server: healthy({ info: { redis_version: '7.2.4', valkey_version: '8.0.1', server_name: 'valkey' } }),
    options: { targetVersion: 'redis-7.0' },
    status: 'fail',
    blocks: ['continuous', 'scan'],
  },
  'Valkey 9 to Redis 8: only a scan is not possible': {
    server: valkey9(),
    options: { targetVersion: 'redis-8.0' },
    status: 'fail',
    blocks: ['scan'],
  },
  'Valkey 9 with hash fields that expire to Redis 8': {
    server: valkey9({ info: { db0: 'keys=1,expires=0,avg_ttl=0,keys_with_volatile_items=1' } }),
    options: { targetVersion: 'redis-8.0' },
    status: 'fail',
    blocks: both,
  },
  'Valkey 9 to Redis 7.0, which cannot read RDB 11': {
    server: valkey9(),
    options: { targetVersion: 'redis-7.0' },
    status: 'fail',
    blocks: both,
  },
  'Valkey 9 to Valkey 8': { server: valkey9(), options: { targetVersion: 'valkey-8' }, status: 'fail', blocks: both },
  'Valkey 9 to Valkey 9': { server: valkey9(), options: { targetVersion: 'valkey-9.1' }, status: 'pass' },
  'Valkey 9 to 8 of either product': { server: valkey9(), options: { targetVersion: '8' }, status: 'unknown' },
  'no version': { server: healthy({ info: { redis_version: '' } }), status: 'unknown' },
  'its own kind': { server: healthy({ info: { kvrocks_version: '2.12.0' } }), status: 'fail', blocks: ['continuous'] },
});
