import { bigKeysCheck } from '../../../../../src/db/preflight/redis/checks/big-keys.ts';
import { checkCases, sampled } from '../check-cases.ts';

checkCases(bigKeysCheck, {
  'no keys': { status: 'pass' },
  small: { facts: { sample: sampled({ bytes: 1000 }) }, status: 'pass' },
  large: { facts: { sample: sampled({ bytes: 5e7 }) }, status: 'info', objects: ['db0 k (48 MB)'] },
  'too large': { facts: { sample: sampled({ bytes: 4e8 }) }, status: 'warn', objects: ['db0 k (381 MB)'] },
  'no sizes': { facts: { sample: sampled({}) }, status: 'skip' },
  denied: {
    facts: { sample: { kind: 'denied', reason: 'SCAN: NOPERM', grant: 'ACL SETUSER u +scan', revoke: '-' } },
    status: 'unknown',
    fix: { sql: ['ACL SETUSER u +scan'], undo: ['-'] },
  },
});
