import { evaluateSplitHorizon } from '../../network/evaluate.ts';
import { declareServerCheck } from '../check.ts';

export const postgresqlHostSplitHorizonCheck = declareServerCheck({
  id: 'host-split-horizon',
  title: 'the host resolves to the same addresses here and in public DNS',
  headline: 'The host resolves to other addresses in public DNS',
  severity: { continuous: 'warning', dump: 'warning' },
  needs: 'address',
  queries: {},
  evaluate: (_values, facts, options) => evaluateSplitHorizon(facts.address, options),
});
