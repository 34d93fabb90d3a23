import { evaluateSplitHorizon } from '../../network/evaluate.ts';
import { declareRedisCheck } from '../check.ts';

export const redisHostSplitHorizonCheck = declareRedisCheck({
  id: 'host-split-horizon',
  title: 'the host resolves to the same addresses here and in public DNS',
  headline: 'The host resolves to other addresses in public DNS',
  severity: { continuous: 'warning', scan: 'warning' },
  needs: 'address',
  queries: {},
  evaluate: (_values, { address }, options) => evaluateSplitHorizon(address, options),
});
