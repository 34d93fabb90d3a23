import { countOf } from '../../../../base/text.ts';
import { passOutcome, warnOutcome } from '../../finding.ts';
import { declareServerCheck } from '../check.ts';
import { getSetting, numericSetting, settingsQuery } from '../queries/settings.ts';
import { alterSystemFix } from '../settings.ts';

/** Built-in replication uses background workers on the target only; pglogical uses them on the source too. */
export const workerProcessesCheck = declareServerCheck({
  id: 'worker-processes',
  title: 'max_worker_processes is sufficient for pglogical',
  headline: 'max_worker_processes is too low for pglogical',
  severity: { continuous: 'warning' },
  queries: { settings: settingsQuery },
  evaluate({ settings }, facts) {
    const max = numericSetting(settings, 'max_worker_processes');
    const preloaded = getSetting(settings, 'shared_preload_libraries');
    if (!/\bpglogical\b/.test(preloaded)) {
      return passOutcome(String(max), {
        detail: 'Built-in logical replication uses no background worker on the source.',
      });
    }
    const needed = facts.databases.length + 1;
    if (max >= needed) return passOutcome(String(max), { required: String(needed) });
    return warnOutcome(String(max), {
      headline: `pglogical needs ${needed} workers: raise max_worker_processes`,
      required: String(needed),
      detail: `pglogical is preloaded and uses one worker, plus one for each of ${countOf(facts.databases.length, 'database')}.`,
      fix: alterSystemFix(settings, { max_worker_processes: String(needed) }),
    });
  },
});
