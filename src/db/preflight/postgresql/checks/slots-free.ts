import { countOf } from '../../../../base/text.ts';
import { failOutcome, passOutcome, warnOutcome } from '../../finding.ts';
import { declareServerCheck } from '../check.ts';
import { type RoleSessions, sessionsQuery } from '../queries/activity.ts';
import { databasesQuery } from '../queries/cluster.ts';
import { type ReplicationSlot, slotsQuery } from '../queries/replication.ts';
import { numericSetting, settingsQuery } from '../queries/settings.ts';
import { describeRestart, raiseSlotsFix, slotDemand } from '../settings.ts';

/**
 * Initial copies need replication slots too. Without free slots the copies never start, and only the log of the target
 * reports the reason.
 */
export const slotsFreeCheck = declareServerCheck({
  id: 'slots-free',
  title: 'enough replication slots are free',
  headline: 'Too few replication slots are free',
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
    const free = Math.max(0, max - slots.length);
    const { needed, full, sum } = slotDemand(facts.databases.length);
    const observed = `${countOf(free, 'slot')} free of ${max} (${slots.length} used)`;
    const detail = `${observed}; ${sum}.`;
    const more = { required: `${needed} free slots, ${full} for full speed`, objects: slots.map(nameOf) };
    if (free >= full) return passOutcome(observed, { required: more.required, detail });
    const fix = raiseSlotsFix(settings, slots, facts.databases.length, databases.length);
    if (free >= needed) {
      return warnOutcome(observed, {
        headline: `${countOf(free, 'slot')} free, full speed needs ${full}: raise max_replication_slots`,
        ...more,
        detail: `${detail} With fewer free slots the migration works, but copies fewer tables at a time. ${impact(fix.restart, activity)}`,
        fix,
      });
    }
    return failOutcome(['continuous'], observed, {
      headline: `${countOf(free, 'slot')} free, ${needed} needed: raise max_replication_slots`,
      ...more,
      detail: `${detail} ${slotError(max, slots.length)} ${impact(fix.restart, activity)}`,
      fix,
    });
  },
});

function slotError(max: number, used: number): string {
  if (max === 0) return 'The server reports: "replication slots can only be used if max_replication_slots > 0".';
  return used >= max
    ? 'The server reports: "all replication slots are in use".'
    : 'The initial copies are retried endlessly: could not create replication slot "pg_…_sync_…": all replication slots are in use.';
}

function impact(restart: boolean | undefined, groups: readonly RoleSessions[]): string {
  return restart === true ? describeRestart(groups) : '';
}

function nameOf({ name, kind, database, active }: ReplicationSlot): string {
  return `${name} (${kind}${database === undefined ? '' : `, ${database}`}, ${active ? 'active' : 'inactive'})`;
}
