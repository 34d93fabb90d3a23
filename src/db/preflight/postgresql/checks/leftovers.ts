import { countOf, formatBytes } from '../../../../base/text.ts';
import { doStatement, quoteIdentifier, quoteLiteral } from '../../../../postgresql/quote.ts';
import {
  type FindingFix,
  failOutcome,
  infoOutcome,
  passOutcome,
  removalEffect,
  resultEffect,
  warnOutcome,
} from '../../finding.ts';
import { declareDatabaseCheck } from '../check.ts';
import {
  isMigrationPublication,
  isMigrationSlot,
  publicationsQuery,
  type ReplicationSlot,
  slotPattern,
  slotsQuery,
} from '../queries/replication.ts';

export const leftoversCheck = declareDatabaseCheck({
  id: 'leftovers',
  title: 'no replication slot or publication is left from an earlier migration',
  headline: 'Replication slots or publications of a migration exist',
  severity: { continuous: 'blocker' },
  queries: { slots: slotsQuery, publications: publicationsQuery },
  evaluate({ slots, publications }, database, _facts, { cluster = 'CLUSTER_UUID' }) {
    const own = slots.filter((slot) => slot.database === database);
    const marked = own.filter(({ name }) => isMigrationSlot(name));
    const markedPublications = publications.filter(({ name }) => isMigrationPublication(name));
    const idle = own.filter(({ active, name }) => !active && !isMigrationSlot(name));
    const objects = [
      ...marked.map(({ name, active }) => `slot ${name}${active ? ' (active)' : ''}`),
      ...markedPublications.map(({ name }) => `publication ${name}`),
      ...idle.map(({ name }) => `slot ${name} (inactive)`),
    ];
    if (marked.length + markedPublications.length > 0) {
      const busy = marked.filter(({ active }) => active);
      return failOutcome(
        ['continuous'],
        `${countOf(marked.length, 'slot')}, ${countOf(markedPublications.length, 'publication')}`,
        {
          ...(busy.length === 0 ? {} : { headline: 'A migration of this source seems to be running' }),
          required: 'none',
          detail: `${busy.length === 0 ? 'The source cannot show whether the migration has ended: the slot of a running one is also inactive until its target connects, and while its target retries.' : 'An active slot means that a migration is running, or that a target is still connected.'} A second migration may fail: "replication slot "…" already exists", "publication "…" already exists".${retainedText(marked)} While a publication exists, UPDATE and DELETE on published tables without a replica identity fail.`,
          objects,
          fix: dropFix(
            marked,
            markedPublications.map(({ name }) => name),
            { database, cluster },
          ),
        },
      );
    }
    if (idle.length === 0) return passOutcome('none');
    const headline = 'Inactive replication slots exist';
    const observed = countOf(idle.length, 'inactive slot');
    const detail = `Inactive replication slots have no consumer.${retainedText(idle)} Inactive slots count towards max_replication_slots.`;
    const text = `If they are no longer needed: ${idle.map(({ name }) => `SELECT pg_catalog.pg_drop_replication_slot(${quoteLiteral(name)})`).join('; ')}. The WAL that they retain is then removed.`;
    const pinned = idle.reduce((sum, { retained }) => sum + (retained ?? 0), 0);
    return pinned > 1024 ** 3
      ? warnOutcome(observed, { headline, detail, objects, fix: { text } })
      : infoOutcome(observed, { headline, detail, objects, fix: { text } });
  },
});

function retainedText(slots: readonly ReplicationSlot[]): string {
  const bytes = slots.reduce((sum, { retained }) => sum + (retained ?? 0), 0);
  return bytes === 0 ? '' : ` The slots retain ${formatBytes(bytes)} of WAL.`;
}

/**
 * The statements are for review, because only the service knows whether the migration has ended, and a running one cannot
 * recover from them. They have no undo: what a migration that has ended left is of no use.
 */
function dropFix(
  slots: readonly ReplicationSlot[],
  names: readonly string[],
  { database, cluster }: { readonly database: string; readonly cluster: string },
): FindingFix {
  return {
    review: [
      ...slots.map(
        ({ name }) =>
          `SELECT pg_catalog.pg_drop_replication_slot(slot_name) FROM pg_catalog.pg_replication_slots WHERE slot_name OPERATOR(pg_catalog.=) ${quoteLiteral(name)} AND NOT active`,
      ),
      ...names.map(dropIdlePublication),
    ],
    effects: [
      removalEffect(
        slotsQuery,
        slots.filter(({ active }) => !active),
      ),
      ...(slots.some(({ active }) => active)
        ? []
        : [resultEffect(publicationsQuery, (all) => all.filter(({ name }) => !names.includes(name)))]),
    ],
    database,
    text: `Drop them only when \`cloudctl db status ${cluster}\` shows that the migration with the id in these names has ended: a running migration cannot recover from it. An active slot and its publication are not dropped: disconnect the consumer of the slot first.`,
  };
}

/**
 * A running migration cannot recover without its publication, so no publication is dropped while a migration slot is
 * active.
 */
function dropIdlePublication(name: string): string {
  const running = `SELECT FROM pg_catalog.pg_replication_slots WHERE active AND database = current_database() AND slot_name ~ ${quoteLiteral(slotPattern.source)}`;
  return doStatement(`IF NOT EXISTS (${running}) THEN DROP PUBLICATION IF EXISTS ${quoteIdentifier(name)}; END IF`);
}
