import { pass, warn } from '../../finding.ts';
import { alterSystemFix } from '../alter-system.ts';
import { serverCheck } from '../check.ts';
import { numericSettingOf, settingOf, settingsQuery } from '../queries/settings.ts';
import { pluralize } from '../units.ts';

/** Built-in replication uses background workers on the target only; pglogical uses them on the source too. */
export const workerProcessesCheck = serverCheck({
  id: 'worker-processes',
  title: 'max_worker_processes is sufficient for pglogical',
  headline: 'max_worker_processes is too low for pglogical',
  severity: { continuous: 'warning' },
  needs: 'connection',
  queries: { settings: settingsQuery },
  evaluate({ settings }, facts) {
    const max = numericSettingOf(settings, 'max_worker_processes');
    const preloaded = settingOf(settings, 'shared_preload_libraries');
    if (!/\bpglogical\b/.test(preloaded)) {
      return pass(String(max), { detail: 'Built-in logical replication uses no background worker on the source.' });
    }
    const needed = facts.databases.length + 1;
    if (max >= needed) return pass(String(max), { required: String(needed) });
    return warn(String(max), {
      required: String(needed),
      detail: `pglogical is preloaded and uses one worker, plus one for each of ${pluralize(facts.databases.length, 'database')}.`,
      fix: alterSystemFix(settings, { max_worker_processes: String(needed) }),
    });
  },
});
