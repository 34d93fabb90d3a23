import { fail, pass } from '../finding.ts';
import { alterSystem } from './alter-system.ts';
import { activity } from './asks/activity.ts';
import { settingOf, settings } from './asks/settings.ts';
import { serverCheck } from './check.ts';
import { versionOf } from './ground.ts';
import { restartHarm } from './restart-harm.ts';

export const walLevel = serverCheck({
  id: 'wal-level',
  title: 'wal_level is logical',
  spec: '4.6',
  needs: 'entry',
  asks: { settings, activity },
  judge({ settings, activity }, ground) {
    const observed = settingOf(settings, 'wal_level');
    if (observed === 'logical') return pass('logical', { required: 'logical' });
    const words =
      versionOf(ground) < 170_000
        ? 'logical decoding requires wal_level >= logical'
        : 'logical decoding requires "wal_level" >= "logical"';
    const waits =
      settings.get('wal_level')?.pendingRestart === true ? ' Another value waits for a restart already.' : '';
    const more = {
      required: 'logical',
      detail: `No logical replication slot can be made: "${words}". CREATE PUBLICATION only warns of it, so a migration started now would fail and leave its publication behind.${waits} ${restartHarm(activity)}`,
      fix: alterSystem(settings, { wal_level: 'logical' }),
    };
    return fail(['continuous'], observed, more);
  },
});
