import { evaluateSplitHorizon } from '../../network/evaluate-host.ts';
import { serverCheck } from '../check.ts';

export const postgresqlHostSplitHorizonCheck = serverCheck({
  id: 'host-split-horizon',
  title: 'the host means the same here and in public DNS',
  needs: 'address',
  queries: {},
  evaluate: (_values, facts, options) => evaluateSplitHorizon(facts.address, options),
});
