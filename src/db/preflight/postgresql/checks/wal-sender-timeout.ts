import { formatDuration } from '../../../../base/text.ts';
import { passOutcome, warnOutcome } from '../../finding.ts';
import { declareServerPreflightCheck } from '../check.ts';
import { roleSettingsQuery } from '../queries/roles.ts';
import { postgresqlSettingsQuery } from '../queries/settings.ts';
import { alterSystemFix, computeEffectiveSettingPerDatabase, parsePostgresqlDuration } from '../settings.ts';

export const walSenderTimeoutCheck = declareServerPreflightCheck({
  id: 'wal-sender-timeout',
  title: 'wal_sender_timeout is at least 30 s or disabled',
  headline: 'wal_sender_timeout is shorter than 30 s',
  severity: { continuous: 'warning' },
  needs: 'connection',
  queries: { settings: postgresqlSettingsQuery, roleSettings: roleSettingsQuery },
  evaluate({ settings, roleSettings }, facts) {
    const found = computeEffectiveSettingPerDatabase('wal_sender_timeout', settings, roleSettings, facts);
    const spans = found.map(({ value }) => parsePostgresqlDuration(value, 'ms') ?? 0).filter((span) => span > 0);
    const shortest = Math.min(...spans);
    if (spans.length === 0) return passOutcome('off');
    if (shortest >= 30_000)
      return passOutcome(formatDuration(shortest), { required: 'a wal_sender_timeout of at least 30 s, or 0' });
    return warnOutcome(formatDuration(shortest), {
      required: 'a wal_sender_timeout of at least 30 s, or 0',
      detail:
        'A target that is busy for longer loses its connection repeatedly: "terminating walsender process due to replication timeout".',
      fix: alterSystemFix(settings, { wal_sender_timeout: '5min' }),
    });
  },
});
