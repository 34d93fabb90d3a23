import { failOutcome, passOutcome } from '../../finding.ts';
import { declareServerPreflightCheck } from '../check.ts';
import { roleSessionActivityQuery } from '../queries/activity.ts';
import { getPostgresqlSetting, postgresqlSettingsQuery } from '../queries/settings.ts';
import { alterSystemFix, describeRestartImpact } from '../settings.ts';
import { getPostgresqlSourceVersion } from '../source-facts.ts';

export const walLevelCheck = declareServerPreflightCheck({
  id: 'wal-level',
  title: 'wal_level is logical',
  headline: 'wal_level is not logical',
  severity: { continuous: 'blocker', dump: 'info' },
  spec: 'S9.13',
  needs: 'connection',
  queries: { settings: postgresqlSettingsQuery, activity: roleSessionActivityQuery },
  evaluate({ settings, activity }, facts) {
    const observed = getPostgresqlSetting(settings, 'wal_level');
    if (observed === 'logical') return passOutcome('logical', { required: 'logical' });
    const error =
      getPostgresqlSourceVersion(facts) < 170_000
        ? 'logical decoding requires wal_level >= logical'
        : 'logical decoding requires "wal_level" >= "logical"';
    const pending =
      settings.get('wal_level')?.pendingRestart === true
        ? ' A changed value of wal_level takes effect after a restart.'
        : '';
    const more = {
      required: 'logical',
      detail: `A logical replication slot cannot be created: "${error}". CREATE PUBLICATION only warns, so a migration started now would fail and its publication would remain on the source.${pending} ${describeRestartImpact(activity)}`,
      fix: alterSystemFix(settings, { wal_level: 'logical' }),
    };
    return failOutcome(['continuous'], observed, more);
  },
});
