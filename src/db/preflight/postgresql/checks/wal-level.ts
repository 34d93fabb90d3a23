import { failOutcome, passOutcome } from '../../finding.ts';
import { declareServerCheck } from '../check.ts';
import { sessionsQuery } from '../queries/activity.ts';
import { getSetting, settingsQuery } from '../queries/settings.ts';
import { alterSystemFix, describeRestart } from '../settings.ts';
import { sourceVersionNumber } from '../source-facts.ts';

export const walLevelCheck = declareServerCheck({
  id: 'wal-level',
  title: 'wal_level is logical',
  headline: 'wal_level is not logical',
  severity: { continuous: 'blocker', dump: 'info' },
  spec: 'S9.13',
  queries: { settings: settingsQuery, activity: sessionsQuery },
  evaluate({ settings, activity }, facts) {
    const observed = getSetting(settings, 'wal_level');
    if (observed === 'logical') return passOutcome('logical', { required: 'logical' });
    const error =
      sourceVersionNumber(facts) < 170_000
        ? 'logical decoding requires wal_level >= logical'
        : 'logical decoding requires "wal_level" >= "logical"';
    const pending =
      settings.get('wal_level')?.pendingRestart === true
        ? ' A changed value of wal_level takes effect after a restart.'
        : '';
    const more = {
      required: 'logical',
      detail: `A logical replication slot cannot be created: "${error}". CREATE PUBLICATION only warns, so a migration started now would fail and its publication would remain on the source.${pending} ${describeRestart(activity)}`,
      fix: alterSystemFix(settings, { wal_level: 'logical' }),
    };
    return failOutcome(['continuous'], observed, more);
  },
});
