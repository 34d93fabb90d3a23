import { infoNumber } from '../../../../redis/info.ts';
import { infoOutcome, passOutcome, warnOutcome } from '../../finding.ts';
import { declareRedisCheck } from '../check.ts';
import { infoQuery } from '../queries.ts';

export const evictingNowCheck = declareRedisCheck({
  id: 'evicting-now',
  title: 'the source evicts no keys',
  headline: 'The source evicts keys',
  severity: { continuous: 'warning', scan: 'warning' },
  queries: { info: infoQuery },
  evaluate({ info }, { rate }, { method }) {
    const total = infoNumber(info, 'evicted_keys') ?? 0;
    const now = rate?.evicted ?? 0;
    if (total === 0) return passOutcome('no key was evicted since the start');
    if (now === 0)
      return infoOutcome(`${total} keys evicted since the start, none during the preflight`, {
        headline: 'The source has evicted keys',
      });
    return warnOutcome(`${Math.round(now)} keys a second evicted, ${Math.round(rate?.expired ?? 0)} expired`, {
      required: 'no eviction while the data is copied',
      detail:
        'Keys disappear while they are copied, so the key counts of source and target differ. A scan can restore keys that the source has already deleted.',
      ...(method === 'scan' ? { dataLoss: 'keys that the source deletes during the scan exist on the target' } : {}),
      fix: { text: 'Raise maxmemory of the source for the time of the migration, or accept an incomplete copy.' },
    });
  },
});
