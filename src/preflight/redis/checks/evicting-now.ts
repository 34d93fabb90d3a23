import { infoNumber } from '../../../redis/info.ts';
import { pass, info as tell, warn } from '../../finding.ts';
import { redisCheck } from '../check.ts';
import { infoQuery } from '../queries/info.ts';

export const evictingNowCheck = redisCheck({
  id: 'evicting-now',
  title: 'the source evicts no keys',
  needs: 'entry',
  mayBlock: [],
  queries: { server: infoQuery },
  evaluate({ server }, { rate }, wish) {
    const total = infoNumber(server, 'evicted_keys') ?? 0;
    const now = rate?.evicted ?? 0;
    if (total === 0) return pass('no key was evicted since the start');
    if (now === 0) return tell(`${total} keys evicted since the start, none while it was watched`);
    return warn(`${Math.round(now)} keys a second evicted, ${Math.round(rate?.expired ?? 0)} expired`, {
      required: 'a source that holds still',
      detail:
        'Data disappears while it is copied: counts of both sides will differ. A scan may bring back keys that are gone from the source.',
      ...(wish.method === 'scan' ? { dataLoss: 'keys that are deleted while the scan runs come back' } : {}),
      fix: { text: 'Give the source more memory for the time of the migration, or expect a cache and not a copy.' },
    });
  },
});
