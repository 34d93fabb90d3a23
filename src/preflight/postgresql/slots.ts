import { fail, pass, warn } from '../finding.ts';
import { alterSystemFix } from './alter-system.ts';
import { serverCheck } from './check.ts';
import { activityQuery, type UserSessions } from './queries/activity.ts';
import { databasesQuery } from './queries/databases.ts';
import { type ReplicationSlot, slotsQuery } from './queries/replication-slots.ts';
import { numericSettingOf, type ServerSettings, settingsQuery } from './queries/settings.ts';
import { restartImpact } from './restart-impact.ts';
import { countText } from './units.ts';

/** The specification's own minimum: every database of the server counts, the ignored ones too. */
export const slotsVsDbsCheck = serverCheck({
  id: 'slots-vs-dbs',
  title: 'max_replication_slots is at least the number of databases',
  spec: '4.6',
  needs: 'entry',
  queries: { settings: settingsQuery, slots: slotsQuery, databases: databasesQuery, activity: activityQuery },
  evaluate({ settings, slots, databases, activity }, ground) {
    const max = numericSettingOf(settings, 'max_replication_slots');
    const least = databases.length;
    if (max >= least) return pass(String(max), { required: String(least) });
    return fail(['continuous'], String(max), {
      required: String(least),
      detail: `max_replication_slots is ${max}, and the server has ${countText(least, 'database')} (templates left out, ignored ones counted). ${restartImpact(activity)}`,
      fix: moreSlots(settings, slots, ground.databases.length, least),
    });
  },
});

/** Initial copies take slots too: with one for each database alone the copies never begin, and say so in the target's log only. */
export const slotsFreeCheck = serverCheck({
  id: 'slots-free',
  title: 'enough replication slots are free',
  spec: '4.6',
  needs: 'entry',
  queries: { settings: settingsQuery, slots: slotsQuery, databases: databasesQuery, activity: activityQuery },
  evaluate({ settings, slots, databases, activity }, ground) {
    const max = numericSettingOf(settings, 'max_replication_slots');
    const free = Math.max(0, max - slots.length);
    const { needed, full, sum } = slotDemand(ground.databases.length);
    const observed = `${countText(free, 'slot')} free of ${max} (${slots.length} used)`;
    const detail = `${observed}; ${sum}.`;
    const more = { required: `${needed} free, ${full} for full speed`, objects: slots.map(nameOf) };
    if (free >= full) return pass(observed, { required: more.required, detail });
    const fix = moreSlots(settings, slots, ground.databases.length, databases.length);
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

/** How many slots, and senders, so many databases take; the arithmetic in words. */
export function slotDemand(databases: number): {
  readonly needed: number;
  readonly full: number;
  readonly sum: string;
} {
  const needed = databases + 1;
  const full = 3 * databases + 2;
  return {
    needed,
    full,
    sum: `${countText(databases, 'database')} + 1 for initial copies = ${needed} needed; 3x${databases}+2 = ${full} for full speed`,
  };
}

function moreSlots(settings: ServerSettings, used: readonly ReplicationSlot[], databases: number, least: number) {
  const wanted = Math.max(used.length + slotDemand(databases).full, least);
  const idle = used.filter(({ active }) => !active).length;
  const spare =
    idle === 0
      ? ''
      : `${countText(idle, 'slot')} of those in use ${idle === 1 ? 'is' : 'are'} inactive: what nobody needs any more can be dropped instead.`;
  return alterSystemFix(settings, { max_replication_slots: String(wanted) }, spare);
}

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
