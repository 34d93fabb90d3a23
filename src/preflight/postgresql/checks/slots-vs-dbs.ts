import { fail, pass } from '../../finding.ts';
import { serverCheck } from '../check.ts';
import { activityQuery } from '../queries/activity.ts';
import { databasesQuery } from '../queries/databases.ts';
import { slotsQuery } from '../queries/replication-slots.ts';
import { numericSettingOf, settingsQuery } from '../queries/settings.ts';
import { restartImpact } from '../restart-impact.ts';
import { raiseSlotsFix } from '../slot-demand.ts';
import { pluralize } from '../units.ts';

/** The minimum of the specification (section 4.6): every database of the server counts, including ignored ones. */
export const slotsVsDbsCheck = serverCheck({
  id: 'slots-vs-dbs',
  title: 'max_replication_slots is at least the number of databases',
  headline: 'max_replication_slots is less than the number of databases',
  severity: { continuous: 'blocker' },
  spec: '4.6',
  needs: 'connection',
  queries: { settings: settingsQuery, slots: slotsQuery, databases: databasesQuery, activity: activityQuery },
  evaluate({ settings, slots, databases, activity }, facts) {
    const max = numericSettingOf(settings, 'max_replication_slots');
    const least = databases.length;
    if (max >= least) return pass(String(max), { required: String(least) });
    return fail(['continuous'], String(max), {
      required: String(least),
      detail: `max_replication_slots is ${max}, and the server has ${pluralize(least, 'database')} (without templates, including ignored ones). ${restartImpact(activity)}`,
      fix: raiseSlotsFix(settings, slots, facts.databases.length, least),
    });
  },
});
