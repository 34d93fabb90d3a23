import { countOf } from '../../../../base/text.ts';
import { failOutcome, passOutcome, warnOutcome } from '../../finding.ts';
import { declareServerPreflightCheck } from '../check.ts';
import { roleSessionActivityQuery } from '../queries/activity.ts';
import { replicationSlotsQuery, walSendersQuery } from '../queries/replication.ts';
import {
  getNumericPostgresqlSetting,
  type PostgresqlServerSettings,
  postgresqlSettingsQuery,
} from '../queries/settings.ts';
import { alterSystemFix, computeReplicationSlotDemand, describeRestartImpact } from '../settings.ts';

import { getPostgresqlSourceVersion } from '../source-facts.ts';

export const walSendersCheck = declareServerPreflightCheck({
  id: 'wal-senders',
  title: 'enough WAL senders are free',
  headline: 'Too few WAL senders are free',
  severity: { continuous: 'blocker' },
  needs: 'connection',
  queries: {
    settings: postgresqlSettingsQuery,
    senders: walSendersQuery,
    slots: replicationSlotsQuery,
    activity: roleSessionActivityQuery,
  },
  evaluate({ settings, senders, slots, activity }, facts) {
    const max = getNumericPostgresqlSetting(settings, 'max_wal_senders');
    const used = senders.length;
    const free = Math.max(0, max - used);
    const { needed, full, sum } = computeReplicationSlotDemand(facts.databases.length);
    const observed = `${countOf(free, 'sender')} free of ${max} (${used} used)`;
    const required = `${needed} free, ${full} for full speed`;
    const away = slots.filter(({ kind, active }) => kind === 'physical' && !active).length;
    const standbys =
      away === 0 ? '' : ` ${countOf(away, 'standby')} with an inactive slot can reconnect and use one each.`;
    const detail = `${observed}; ${sum}.${standbys}`;
    if (free >= full) return passOutcome(observed, { required, detail });
    const fix = alterSystemFix(settings, {
      max_wal_senders: String(used + full),
      ...connectionsFor(used + full, settings, getPostgresqlSourceVersion(facts)),
    });
    if (free >= needed) {
      return warnOutcome(observed, {
        required,
        detail: `${detail} With fewer WAL senders the migration works, but copies fewer tables at a time. ${describeRestartImpact(activity)}`,
        fix,
      });
    }
    return failOutcome(['continuous'], observed, {
      required,
      detail: `${detail} The initial copies would wait endlessly: "number of requested standby connections exceeds max_wal_senders (currently ${max})". ${describeRestartImpact(activity)}`,
      fix,
    });
  },
});

/**
 * Before PostgreSQL 12, WAL senders are part of max_connections, and with too many WAL senders the server does not
 * start.
 */
function connectionsFor(senders: number, settings: PostgresqlServerSettings, version: number) {
  const reserved = getNumericPostgresqlSetting(settings, 'superuser_reserved_connections', 3);
  const connections = getNumericPostgresqlSetting(settings, 'max_connections', 100);
  if (version >= 120_000 || reserved + senders < connections) return {};
  return { max_connections: String(connections + senders) };
}
