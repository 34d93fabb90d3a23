import { evaluateIpv6Only } from '../../network/evaluate.ts';
import { declareRedisCheck } from '../check.ts';

export const redisHostIpv6OnlyCheck = declareRedisCheck({
  id: 'host-ipv6-only',
  title: 'the host has an IPv4 address',
  headline: 'The host has IPv6 addresses only',
  severity: { continuous: 'warning', scan: 'warning' },
  needs: 'address',
  queries: {},
  evaluate: (_values, { address }, options) => evaluateIpv6Only(address, options),
});
