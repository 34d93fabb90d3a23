import { evictingNowCheck } from '../../../../../src/db/preflight/redis/checks/evicting-now.ts';
import { checkCases } from '../check-cases.ts';
import { healthy } from '../recordings.ts';

checkCases(evictingNowCheck, {
  never: { status: 'pass' },
  once: { server: healthy({ info: { evicted_keys: '5' } }), status: 'info' },
  now: {
    server: healthy({ info: { evicted_keys: '5' } }),
    facts: { rate: { writes: 0, source: 'network', evicted: 50, expired: 2 } },
    status: 'warn',
  },
});
