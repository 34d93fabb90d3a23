import { fail, pass } from '../../finding.ts';
import { alterSystemFix } from '../alter-system.ts';
import { serverCheck } from '../check.ts';
import { activityQuery } from '../queries/activity.ts';
import { settingOf, settingsQuery } from '../queries/settings.ts';
import { restartImpact } from '../restart-impact.ts';
import { serverVersionOf } from '../source-facts.ts';

export const walLevelCheck = serverCheck({
  id: 'wal-level',
  title: 'wal_level is logical',
  headline: 'wal_level is not logical',
  severity: { continuous: 'blocker', dump: 'info' },
  spec: '4.6',
  needs: 'connection',
  queries: { settings: settingsQuery, activity: activityQuery },
  evaluate({ settings, activity }, facts) {
    const observed = settingOf(settings, 'wal_level');
    if (observed === 'logical') return pass('logical', { required: 'logical' });
    const error =
      serverVersionOf(facts) < 170_000
        ? 'logical decoding requires wal_level >= logical'
        : 'logical decoding requires "wal_level" >= "logical"';
    const pending =
      settings.get('wal_level')?.pendingRestart === true
        ? ' A changed value of wal_level takes effect after a restart.'
        : '';
    const more = {
      required: 'logical',
      detail: `A logical replication slot cannot be created: "${error}". CREATE PUBLICATION only warns, so a migration started now would fail and its publication would remain on the source.${pending} ${restartImpact(activity)}`,
      fix: alterSystemFix(settings, { wal_level: 'logical' }),
    };
    return fail(['continuous'], observed, more);
  },
});
