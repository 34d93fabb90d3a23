import { evaluatePublicAddress } from '../../network/evaluate.ts';
import { declareRedisPreflightCheck, redisMigrationMethods } from '../check.ts';

export const redisHostPublicAddressCheck = declareRedisPreflightCheck({
  id: 'host-public-address',
  title: 'the host has a public address',
  headline: 'The host has no public address',
  severity: { continuous: 'blocker', scan: 'blocker' },
  spec: 'S9.10',
  needs: 'address',
  queries: {},
  evaluate: (_values, { address }, options) => evaluatePublicAddress(address, options, redisMigrationMethods),
});
