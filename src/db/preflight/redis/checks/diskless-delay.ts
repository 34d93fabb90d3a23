import { infoOutcome, passOutcome } from '../../finding.ts';
import { declareRedisCheck } from '../check.ts';
import { infoQuery, replicationQuery } from '../queries.ts';

export const disklessDelayCheck = declareRedisCheck({
  id: 'diskless-delay',
  title: 'the copy begins without delay',
  headline: 'The copy begins after a delay',
  severity: { continuous: 'info' },
  queries: { info: infoQuery, settings: replicationQuery },
  evaluate({ info, settings }) {
    const isDiskless = settings.get('repl-diskless-sync') === 'yes';
    const delay = Number(settings.get('repl-diskless-sync-delay') ?? 0);
    const isSaving = info.get('rdb_bgsave_in_progress') === '1';
    const observed = isDiskless ? `repl-diskless-sync yes, repl-diskless-sync-delay ${delay}` : 'repl-diskless-sync no';
    if (isSaving) {
      return infoOutcome(`${observed}; a BGSAVE is running`, { detail: 'The copy begins when the BGSAVE has ended.' });
    }
    if (isDiskless && delay > 30) {
      return infoOutcome(observed, { detail: `The copy begins ${delay} s after the request of the target.` });
    }
    return passOutcome(observed);
  },
});
