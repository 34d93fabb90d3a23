import { maxmemoryCheck } from '../../../../src/preflight/redis/checks/maxmemory.ts';
import { both, checkCases } from '../check-cases.ts';
import { healthy } from '../recordings.ts';

checkCases(maxmemoryCheck, {
  'not told': { status: 'info' },
  fits: { options: { targetMemory: 1e9 }, status: 'info' },
  'does not fit': { options: { targetMemory: 1e8 }, status: 'fail', blocks: both },
  'a cache': {
    server: healthy({ info: { maxmemory: '2000000000', maxmemory_policy: 'allkeys-lru' } }),
    status: 'warn',
  },
  'nothing told': { server: { info: { redis_version: '7.2.0' }, config: 'hidden' }, status: 'unknown' },
});
