import { fail, pass, warn } from '../../finding.ts';
import { serverCheck } from '../check.ts';
import { activityQuery, type UserSessions } from '../queries/activity.ts';
import { databasesQuery } from '../queries/databases.ts';
import { type ReplicationSlot, slotsQuery } from '../queries/replication-slots.ts';
import { numericSettingOf, settingsQuery } from '../queries/settings.ts';
import { restartImpact } from '../restart-impact.ts';
import { raiseSlotsFix, slotDemand } from '../slot-demand.ts';
import { countText } from '../units.ts';

/** Initial copies take slots too: with one for each database alone the copies never begin, and say so in the target's log only. */
export const slotsFreeCheck = serverCheck({
  id: 'slots-free',
  title: 'enough replication slots are free',
  headline: 'Too few replication slots are free',
  severity: { continuous: 'blocker' },
  spec: '4.6',
  needs: 'connection',
  queries: { settings: settingsQuery, slots: slotsQuery, databases: databasesQuery, activity: activityQuery },
  evaluate({ settings, slots, databases, activity }, facts) {
    const max = numericSettingOf(settings, 'max_replication_slots');
    const free = Math.max(0, max - slots.length);
    const { needed, full, sum } = slotDemand(facts.databases.length);
    const observed = `${countText(free, 'slot')} free of ${max} (${slots.length} used)`;
    const detail = `${observed}; ${sum}.`;
    const more = { required: `${needed} free, ${full} for full speed`, objects: slots.map(nameOf) };
    if (free >= full) return pass(observed, { required: more.required, detail });
    const fix = raiseSlotsFix(settings, slots, facts.databases.length, databases.length);
    if (free >= needed) {
      return warn(observed, {
        ...more,
        detail: `${detail} It works, with fewer tables copied at a time. ${harm(fix.restart, activity)}`,
        fix,
      });
    }
    return fail(['continuous'], observed, {
      ...more,
      detail: `${detail} ${complaint(max, slots.length)} ${harm(fix.restart, activity)}`,
      fix,
    });
  },
});

function complaint(max: number, used: number): string {
  if (max === 0) return 'The server refuses: "replication slots can only be used if max_replication_slots > 0".';
  return used >= max
    ? 'The server refuses: "all replication slots are in use".'
    : 'The copies would be tried for ever: could not create replication slot "pg_…_sync_…": all replication slots are in use.';
}

function harm(restart: boolean | undefined, groups: readonly UserSessions[]): string {
  return restart === true ? restartImpact(groups) : '';
}

function nameOf({ name, kind, database, active }: ReplicationSlot): string {
  return `${name} (${kind}${database === undefined ? '' : `, ${database}`}, ${active ? 'active' : 'inactive'})`;
}
