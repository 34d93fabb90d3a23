import { redisDnsCheck } from '../../../../../src/db/preflight/redis/checks/redis-dns.ts';
import { base, both, checkCases, unresolved } from '../check-cases.ts';

checkCases(redisDnsCheck, {
  'a name with an address': { status: 'pass' },
  'an address': { facts: { address: { ...base, host: '203.0.113.7', kind: 'address' } }, status: 'pass' },
  'a name without one': { facts: { address: unresolved() }, status: 'fail', blocks: both },
});
