import { redisHostPublicAddressCheck } from '../../../../../src/db/preflight/redis/checks/host-public-address.ts';
import { both, checkCases, resolved } from '../check-cases.ts';

checkCases(redisHostPublicAddressCheck, {
  'a public address': { facts: { address: resolved('8.8.8.8') }, options: { isOverInternet: true }, status: 'pass' },
  'a private one': {
    facts: { address: resolved('10.0.0.1') },
    options: { isOverInternet: true },
    status: 'fail',
    blocks: both,
  },
  'a private one, near the service': { facts: { address: resolved('10.0.0.1') }, status: 'pass' },
});
