import { redisVersionNotNewerCheck } from '../../../../src/preflight/redis/checks/version-not-newer.ts';
import { both, checkCases } from '../check-cases.ts';
import { healthy } from '../recordings.ts';

checkCases(redisVersionNotNewerCheck, {
  older: { options: { targetVersion: 'redis-7.4' }, status: 'pass' },
  'the same': { options: { targetVersion: '7.2.4' }, status: 'pass' },
  newer: { options: { targetVersion: '6.2' }, status: 'fail', blocks: both },
  'newer by a minor version without a new format': {
    server: healthy({ info: { redis_version: '6.2.1' } }),
    options: { targetVersion: '6.0' },
    status: 'fail',
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
  },
  'no version': { server: healthy({ info: { redis_version: '' } }), status: 'unknown' },
  'its own kind': { server: healthy({ info: { kvrocks_version: '2.12.0' } }), status: 'fail', blocks: ['continuous'] },
});
