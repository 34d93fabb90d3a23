import { fail, pass, warn } from '../finding.ts';
import { alterSystemFix } from './alter-system.ts';
import { serverCheck } from './check.ts';
import { activityQuery } from './queries/activity.ts';
import { slotsQuery } from './queries/replication-slots.ts';
import { numericSettingOf, settingOf, settingsQuery } from './queries/settings.ts';
import { walSendersQuery } from './queries/wal-senders.ts';
import { restartImpact } from './restart-impact.ts';
import { slotDemand } from './slots.ts';
import { countText } from './units.ts';

export const walSendersCheck = serverCheck({
  id: 'wal-senders',
  title: 'enough WAL senders are free',
  needs: 'entry',
  queries: { settings: settingsQuery, senders: walSendersQuery, slots: slotsQuery, activity: activityQuery },
  evaluate({ settings, senders, slots, activity }, ground) {
    const max = numericSettingOf(settings, 'max_wal_senders');
    const used = senders.length;
    const free = Math.max(0, max - used);
    const { needed, full, sum } = slotDemand(ground.databases.length);
    const observed = `${countText(free, 'sender')} free of ${max} (${used} used)`;
    const required = `${needed} free, ${full} for full speed`;
    const away = slots.filter(({ kind, active }) => kind === 'physical' && !active).length;
    const comes =
      away === 0 ? '' : ` ${countText(away, 'standby')} with an inactive slot may come back and take one each.`;
    const detail = `${observed}; ${sum}.${comes}`;
    if (free >= full) return pass(observed, { required, detail });
    const fix = alterSystemFix(settings, { max_wal_senders: String(used + full) });
    if (free >= needed) {
      return warn(observed, {
        required,
        detail: `${detail} It works, with fewer tables copied at a time. ${restartImpact(activity)}`,
        fix,
      });
    }
    return fail(['continuous'], observed, {
      required,
      detail: `${detail} Tables would wait for ever: "number of requested standby connections exceeds max_wal_senders (currently ${max})". ${restartImpact(activity)}`,
      fix,
    });
  },
});

/** Background workers apply changes, so they matter on the target; an extension that does so from here needs them too. */
export const workerProcessesCheck = serverCheck({
  id: 'worker-processes',
  title: 'max_worker_processes leaves room for pglogical',
  needs: 'entry',
  queries: { settings: settingsQuery },
  evaluate({ settings }, ground) {
    const max = numericSettingOf(settings, 'max_worker_processes');
    const preloaded = settingOf(settings, 'shared_preload_libraries');
    if (!/\bpglogical\b/.test(preloaded)) {
      return pass(String(max), { detail: 'Built-in logical replication takes none of them on the source.' });
    }
    const needed = ground.databases.length + 1;
    if (max >= needed) return pass(String(max), { required: String(needed) });
    return warn(String(max), {
      required: String(needed),
      detail: `pglogical is preloaded and takes one worker, and one more for each of ${countText(ground.databases.length, 'database')}.`,
      fix: alterSystemFix(settings, { max_worker_processes: String(needed) }),
    });
  },
});
