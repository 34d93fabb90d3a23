import { countOf } from '../../../../base/text.ts';
import { failOutcome, passOutcome } from '../../finding.ts';
import { declareServerCheck } from '../check.ts';
import { sessionsQuery } from '../queries/activity.ts';
import { databasesQuery } from '../queries/cluster.ts';
import { slotsQuery } from '../queries/replication.ts';
import { numericSetting, settingsQuery } from '../queries/settings.ts';
import { describeRestart, raiseSlotsFix } from '../settings.ts';

/**
 * Checks the minimum of max_replication_slots in docs/service.md S9.13. Every database of the server counts,
 * including ignored ones.
 */
export const slotsVsDbsCheck = declareServerCheck({
  id: 'slots-vs-dbs',
  title: 'max_replication_slots is at least the number of databases',
  headline: 'max_replication_slots is less than the number of databases',
  severity: { continuous: 'blocker' },
  spec: 'S9.13',
  queries: {
    settings: settingsQuery,
    slots: slotsQuery,
    databases: databasesQuery,
    activity: sessionsQuery,
  },
  evaluate({ settings, slots, databases, activity }, facts) {
    const max = numericSetting(settings, 'max_replication_slots');
    const least = databases.length;
    if (max >= least) return passOutcome(String(max), { required: String(least) });
    return failOutcome(['continuous'], String(max), {
      required: String(least),
      detail: `max_replication_slots is ${max}, and the server has ${countOf(least, 'database')} (without templates, including ignored ones). ${describeRestart(activity)}`,
      fix: raiseSlotsFix(settings, slots, facts.databases.length, least),
    });
  },
});
