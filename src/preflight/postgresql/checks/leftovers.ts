import { quoteIdentifier, quoteLiteral } from '../../../postgresql/quote.ts';
import { type Fix, fail, info, pass, warn } from '../../finding.ts';
import { databaseCheck } from '../check.ts';
import { isMigrationPublication } from '../migration-publications.ts';
import { publicationsQuery } from '../queries/publications.ts';
import {
  isMigrationSlot,
  migrationSlotPattern,
  type ReplicationSlot,
  slotsQuery,
} from '../queries/replication-slots.ts';
import { binarySizeText, countText } from '../units.ts';

export const leftoversCheck = databaseCheck({
  id: 'leftovers',
  title: 'no replication slot or publication is left from an earlier migration',
  headline: 'Unused replication slots or publications exist',
  severity: { continuous: 'blocker' },
  queries: { slots: slotsQuery, publications: publicationsQuery },
  evaluate({ slots, publications }, database) {
    const own = slots.filter((slot) => slot.database === database);
    const oldSlots = own.filter(({ name }) => isMigrationSlot(name));
    const oldPublications = publications.filter(({ name }) => isMigrationPublication(name));
    const idle = own.filter(({ active, name }) => !active && !isMigrationSlot(name));
    const objects = [
      ...oldSlots.map(({ name, active }) => `slot ${name}${active ? ' (active)' : ''}`),
      ...oldPublications.map(({ name }) => `publication ${name}`),
      ...idle.map(({ name }) => `slot ${name} (inactive)`),
    ];
    if (oldSlots.length + oldPublications.length > 0) {
      const busy = oldSlots.filter(({ active }) => active);
      return fail(
        ['continuous'],
        `${countText(oldSlots.length, 'slot')}, ${countText(oldPublications.length, 'publication')}`,
        {
          required: 'none',
          detail: `An earlier migration left them: "replication slot "…" already exists", "publication "…" already exists".${kept(oldSlots)} As long as a publication stays, UPDATE and DELETE on published tables without a replica identity fail.${busy.length === 0 ? '' : ' An active slot means that a migration is running now, or a target still holds on.'}`,
          objects,
          fix: dropping(
            oldSlots,
            oldPublications.map(({ name }) => name),
            database,
          ),
        },
      );
    }
    if (idle.length === 0) return pass('none');
    const observed = countText(idle.length, 'inactive slot');
    const detail = `Nobody reads them.${kept(idle)} They count against max_replication_slots.`;
    const text = `If nobody comes back for them: ${idle.map(({ name }) => `SELECT pg_drop_replication_slot(${quoteLiteral(name)})`).join('; ')}. What they kept is gone then.`;
    const pinned = idle.reduce((sum, { retained }) => sum + (retained ?? 0), 0);
    return pinned > 1024 ** 3
      ? warn(observed, { detail, objects, fix: { text } })
      : info(observed, { detail, objects, fix: { text } });
  },
});

function kept(slots: readonly ReplicationSlot[]): string {
  const bytes = slots.reduce((sum, { retained }) => sum + (retained ?? 0), 0);
  return bytes === 0 ? '' : ` The slots keep ${binarySizeText(bytes)} of WAL on the disk.`;
}

/** What was left behind is of no use to anybody, so nothing brings it back. */
function dropping(slots: readonly ReplicationSlot[], names: readonly string[], database: string): Fix {
  return {
    sql: [
      ...slots.map(
        ({ name }) =>
          `SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = ${quoteLiteral(name)} AND NOT active`,
      ),
      ...names.map(droppingIdle),
    ],
    database,
    text: 'Drop them, once it is certain that no migration is running: an active slot and its publication stay, whoever holds it must let go first.',
  };
}

/**
 * Without its publication a migration that runs is broken for good, so none is dropped while a slot of one is active. The body
 * is a text constant: whoever may make publications could end dollar quotes with the name of one.
 */
function droppingIdle(name: string): string {
  const running = `SELECT FROM pg_replication_slots WHERE active AND database = current_database() AND slot_name ~ ${quoteLiteral(migrationSlotPattern.source)}`;
  const body = `BEGIN IF NOT EXISTS (${running}) THEN DROP PUBLICATION IF EXISTS ${quoteIdentifier(name)}; END IF; END`;
  return `DO ${quoteLiteral(body)}`;
}
