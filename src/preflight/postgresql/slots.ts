import { fail, pass, warn } from '../finding.ts';
import { alterSystem } from './alter-system.ts';
import { activity, type SessionGroup } from './asks/activity.ts';
import { databases } from './asks/databases.ts';
import { type Settings, settings, wholeOf } from './asks/settings.ts';
import { type Slot, slots } from './asks/slots.ts';
import { serverCheck } from './check.ts';
import { restartHarm } from './restart-harm.ts';
import { count } from './units.ts';

/** The specification's own minimum: every database of the server counts, the ignored ones too. */
export const slotsVsDbs = serverCheck({
  id: 'slots-vs-dbs',
  title: 'max_replication_slots is at least the number of databases',
  spec: '4.6',
  needs: 'entry',
  asks: { settings, slots, databases, activity },
  judge({ settings, slots, databases, activity }, ground) {
    const max = wholeOf(settings, 'max_replication_slots');
    const least = databases.length;
    if (max >= least) return pass(String(max), { required: String(least) });
    return fail(['continuous'], String(max), {
      required: String(least),
      detail: `max_replication_slots is ${max}, and the server has ${count(least, 'database')} (templates left out, ignored ones counted). ${restartHarm(activity)}`,
      fix: moreSlots(settings, slots, ground.databases.length, least),
    });
  },
});

/** Initial copies take slots too: with one for each database alone the copies never begin, and say so in the target's log only. */
export const slotsFree = serverCheck({
  id: 'slots-free',
  title: 'enough replication slots are free',
  spec: '4.6',
  needs: 'entry',
  asks: { settings, slots, databases, activity },
  judge({ settings, slots, databases, activity }, ground) {
    const max = wholeOf(settings, 'max_replication_slots');
    const free = Math.max(0, max - slots.length);
    const { needed, full, sum } = demand(ground.databases.length);
    const observed = `${count(free, 'slot')} free of ${max} (${slots.length} used)`;
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
export function demand(databases: number): { readonly needed: number; readonly full: number; readonly sum: string } {
  const needed = databases + 1;
  const full = 3 * databases + 2;
  return {
    needed,
    full,
    sum: `${count(databases, 'database')} + 1 for initial copies = ${needed} needed; 3x${databases}+2 = ${full} for full speed`,
  };
}

function moreSlots(settings: Settings, used: readonly Slot[], databases: number, least: number) {
  const wanted = Math.max(used.length + demand(databases).full, least);
  const idle = used.filter(({ active }) => !active).length;
  const spare =
    idle === 0
      ? ''
      : `${count(idle, 'slot')} of those in use ${idle === 1 ? 'is' : 'are'} inactive: what nobody needs any more can be dropped instead.`;
  return alterSystem(settings, { max_replication_slots: String(wanted) }, spare);
}

function complaint(max: number, used: number): string {
  if (max === 0) return 'The server refuses: "replication slots can only be used if max_replication_slots > 0".';
  return used >= max
    ? 'The server refuses: "all replication slots are in use".'
    : 'The copies would be tried for ever: could not create replication slot "pg_…_sync_…": all replication slots are in use.';
}

function harm(restart: boolean | undefined, groups: readonly SessionGroup[]): string {
  return restart === true ? restartHarm(groups) : '';
}

function nameOf({ name, kind, database, active }: Slot): string {
  return `${name} (${kind}${database === undefined ? '' : `, ${database}`}, ${active ? 'active' : 'inactive'})`;
}
