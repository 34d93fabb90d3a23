import { redisHostIpv6OnlyCheck } from '../../../../../src/db/preflight/redis/checks/host-ipv6-only.ts';
import { absent, base, checkCases, found } from '../check-cases.ts';

checkCases(redisHostIpv6OnlyCheck, {
  IPv4: { options: { isOverInternet: true }, status: 'pass' },
  'IPv6 only': {
    facts: { address: { ...base, dns4: absent(), dns6: found('2600::1') } },
    options: { isOverInternet: true },
    status: 'warn',
  },
});
