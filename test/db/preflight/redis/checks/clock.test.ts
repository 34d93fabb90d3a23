import { clockCheck } from '../../../../../src/db/preflight/redis/checks/clock.ts';
import { checkCases } from '../check-cases.ts';
import { healthy } from '../recordings.ts';

checkCases(clockCheck, {
  'not told': { status: 'skip' },
  'a little behind': { facts: { clockOffset: -30_000 }, status: 'pass' },
  'an hour behind, and keys expire': { facts: { clockOffset: -3_600_000 }, status: 'unknown' },
  'an hour ahead, and keys expired': {
    server: healthy({ info: { db0: 'keys=1,expires=0', expired_keys: '4' } }),
    facts: { clockOffset: 3_600_000 },
    status: 'unknown',
  },
  'an hour ahead, and no key expires': {
    server: healthy({ info: { db0: 'keys=1,expires=0', expired_keys: '0' } }),
    facts: { clockOffset: 3_600_000 },
    status: 'warn',
  },
});
