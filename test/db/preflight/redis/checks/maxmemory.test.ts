import { maxmemoryCheck } from '../../../../../src/db/preflight/redis/checks/maxmemory.ts';
import { both, checkCases } from '../check-cases.ts';
import { healthy } from '../recordings.ts';

checkCases(maxmemoryCheck, {
  'not told': { status: 'info' },
  'not told, and more than the smallest target has': {
    server: healthy({ info: { used_memory: '3000000000', used_memory_dataset: '3000000000' } }),
    status: 'unknown',
  },
  fits: { options: { targetMemory: 1e9 }, status: 'info' },
  'does not fit': { options: { targetMemory: 1e8 }, status: 'fail', blocks: both },
  'a cache': {
    server: healthy({ info: { maxmemory: '2000000000', maxmemory_policy: 'allkeys-lru' } }),
    status: 'warn',
  },
  'nothing told': { server: { info: { redis_version: '7.2.0' }, config: 'hidden' }, status: 'unknown' },
});
