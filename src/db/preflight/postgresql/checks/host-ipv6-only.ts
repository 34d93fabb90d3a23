import { evaluateIpv6Only } from '../../network/evaluate.ts';
import { declareServerCheck } from '../check.ts';

export const postgresqlHostIpv6OnlyCheck = declareServerCheck({
  id: 'host-ipv6-only',
  title: 'the host has an IPv4 address',
  headline: 'The host has IPv6 addresses only',
  severity: { continuous: 'warning', dump: 'warning' },
  spec: 'S9.13',
  needs: 'address',
  queries: {},
  evaluate: (_values, facts, options) => evaluateIpv6Only(facts.address, options),
});
