import { fail, pass, warn } from '../finding.ts';
import { alterSystem } from './alter-system.ts';
import { activity } from './asks/activity.ts';
import { senders } from './asks/senders.ts';
import { settingOf, settings, wholeOf } from './asks/settings.ts';
import { slots } from './asks/slots.ts';
import { serverCheck } from './check.ts';
import { restartHarm } from './restart-harm.ts';
import { demand } from './slots.ts';
import { count } from './units.ts';

export const walSenders = serverCheck({
  id: 'wal-senders',
  title: 'enough WAL senders are free',
  needs: 'entry',
  asks: { settings, senders, slots, activity },
  judge({ settings, senders, slots, activity }, ground) {
    const max = wholeOf(settings, 'max_wal_senders');
    const used = senders.length;
    const free = Math.max(0, max - used);
    const { needed, full, sum } = demand(ground.databases.length);
    const observed = `${count(free, 'sender')} free of ${max} (${used} used)`;
    const required = `${needed} free, ${full} for full speed`;
    const away = slots.filter(({ kind, active }) => kind === 'physical' && !active).length;
    const comes = away === 0 ? '' : ` ${count(away, 'standby')} with an inactive slot may come back and take one each.`;
    const detail = `${observed}; ${sum}.${comes}`;
    if (free >= full) return pass(observed, { required, detail });
    const fix = alterSystem(settings, { max_wal_senders: String(used + full) });
    if (free >= needed) {
      return warn(observed, {
        required,
        detail: `${detail} It works, with fewer tables copied at a time. ${restartHarm(activity)}`,
        fix,
      });
    }
    return fail(['continuous'], observed, {
      required,
      detail: `${detail} Tables would wait for ever: "number of requested standby connections exceeds max_wal_senders (currently ${max})". ${restartHarm(activity)}`,
      fix,
    });
  },
});

/** Background workers apply changes, so they matter on the target; an extension that does so from here needs them too. */
export const workerProcesses = serverCheck({
  id: 'worker-processes',
  title: 'max_worker_processes leaves room for pglogical',
  needs: 'entry',
  asks: { settings },
  judge({ settings }, ground) {
    const max = wholeOf(settings, 'max_worker_processes');
    const preloaded = settingOf(settings, 'shared_preload_libraries');
    if (!/\bpglogical\b/.test(preloaded)) {
      return pass(String(max), { detail: 'Built-in logical replication takes none of them on the source.' });
    }
    const needed = ground.databases.length + 1;
    if (max >= needed) return pass(String(max), { required: String(needed) });
    return warn(String(max), {
      required: String(needed),
      detail: `pglogical is preloaded and takes one worker, and one more for each of ${count(ground.databases.length, 'database')}.`,
      fix: alterSystem(settings, { max_worker_processes: String(needed) }),
    });
  },
});
