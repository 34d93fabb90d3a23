import { redisHostSplitHorizonCheck } from '../../../../../src/db/preflight/redis/checks/host-split-horizon.ts';
import { base, checkCases, found } from '../check-cases.ts';

checkCases(redisHostSplitHorizonCheck, {
  'the same everywhere': { options: { isOverInternet: true }, status: 'pass' },
  'another here': {
    facts: { address: { ...base, lookup: found('10.0.0.1') } },
    options: { isOverInternet: true },
    status: 'warn',
  },
});
