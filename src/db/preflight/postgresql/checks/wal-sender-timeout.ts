import { formatDuration } from '../../../../base/text.ts';
import { passOutcome, warnOutcome } from '../../finding.ts';
import { declareServerCheck } from '../check.ts';
import { roleSettingsQuery } from '../queries/roles.ts';
import { settingsQuery } from '../queries/settings.ts';
import { alterSystemFix, effectiveSettings, parseDuration } from '../settings.ts';

export const walSenderTimeoutCheck = declareServerCheck({
  id: 'wal-sender-timeout',
  title: 'wal_sender_timeout is at least 30 s or disabled',
  headline: 'wal_sender_timeout is shorter than 30 s',
  severity: { continuous: 'warning' },
  queries: { settings: settingsQuery, roleSettings: roleSettingsQuery },
  evaluate({ settings, roleSettings }, facts) {
    const found = effectiveSettings('wal_sender_timeout', settings, roleSettings, facts);
    const spans = found.map(({ value }) => parseDuration(value, 'ms') ?? 0).filter((span) => span > 0);
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
