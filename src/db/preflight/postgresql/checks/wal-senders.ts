import { countOf } from '../../../../base/text.ts';
import { failOutcome, passOutcome, warnOutcome } from '../../finding.ts';
import { declareServerCheck } from '../check.ts';
import { sessionsQuery } from '../queries/activity.ts';
import { slotsQuery, walSendersQuery } from '../queries/replication.ts';
import { numericSetting, type ServerSettings, settingsQuery } from '../queries/settings.ts';
import { alterSystemFix, describeRestart, slotDemand } from '../settings.ts';
import { sourceVersionNumber } from '../source-facts.ts';

export const walSendersCheck = declareServerCheck({
  id: 'wal-senders',
  title: 'enough WAL senders are free',
  headline: 'Too few WAL senders are free',
  severity: { continuous: 'blocker' },
  queries: {
    settings: settingsQuery,
    senders: walSendersQuery,
    slots: slotsQuery,
    activity: sessionsQuery,
  },
  evaluate({ settings, senders, slots, activity }, facts) {
    const max = numericSetting(settings, 'max_wal_senders');
    const used = senders.length;
    const free = Math.max(0, max - used);
    const { needed, full, sum } = slotDemand(facts.databases.length);
    const observed = `${countOf(free, 'sender')} free of ${max} (${used} used)`;
    const required = `${needed} free, ${full} for full speed`;
    const away = slots.filter(({ kind, active }) => kind === 'physical' && !active).length;
    const standbys =
      away === 0 ? '' : ` ${countOf(away, 'standby')} with an inactive slot can reconnect and use one each.`;
    const detail = `${observed}; ${sum}.${standbys}`;
    if (free >= full) return passOutcome(observed, { required, detail });
    const fix = alterSystemFix(settings, {
      max_wal_senders: String(used + full),
      ...connectionsFor(used + full, settings, sourceVersionNumber(facts)),
    });
    if (free >= needed) {
      return warnOutcome(observed, {
        headline: `${countOf(free, 'sender')} free, full speed needs ${full}: raise max_wal_senders`,
        required,
        detail: `${detail} With fewer WAL senders the migration works, but copies fewer tables at a time. ${describeRestart(activity)}`,
        fix,
      });
    }
    return failOutcome(['continuous'], observed, {
      headline: `${countOf(free, 'sender')} free, ${needed} needed: raise max_wal_senders`,
      required,
      detail: `${detail} The initial copies would wait endlessly: "number of requested standby connections exceeds max_wal_senders (currently ${max})". ${describeRestart(activity)}`,
      fix,
    });
  },
});

/**
 * Before PostgreSQL 12, WAL senders are part of max_connections, and with too many WAL senders the server does not
 * start.
 */
function connectionsFor(senders: number, settings: ServerSettings, version: number) {
  const reserved = numericSetting(settings, 'superuser_reserved_connections', 3);
  const connections = numericSetting(settings, 'max_connections', 100);
  if (version >= 120_000 || reserved + senders < connections) return {};
  return { max_connections: String(connections + senders) };
}
