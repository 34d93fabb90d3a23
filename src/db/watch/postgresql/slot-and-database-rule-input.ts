import type { PostgresqlWatchRuleInput } from './rule-input.ts';
import type { WatchedServerFacts } from './server-facts.ts';
import { findTablesWithUnconfirmedWrites } from './track-database.ts';
import type { WatchedDatabaseState } from './tracking-state.ts';

/**
 * The slots and databases of the migration, as input for the watch rules, without the slots of other consumers. If the
 * server has decoded transactions for a slot, the slot has had a consumer.
 */
export function buildSlotAndDatabaseRuleInput(
  databases: ReadonlyMap<string, WatchedDatabaseState>,
  server: WatchedServerFacts,
): Pick<PostgresqlWatchRuleInput, 'slots' | 'databases'> {
  const ours = [...databases.values()].flatMap((database) =>
    database.slot === undefined ? [] : [{ ...database, slot: database.slot }],
  );
  return {
    slots: ours.map(({ name, slot: slotName, missedPolls, firstActiveAt }) => {
      const slot = server.slots.find((one) => one.name === slotName);
      const wasActive = firstActiveAt !== undefined || (slot?.decoded ?? 0) > 0;
      return { name: slotName, database: name, slot, missedPolls, wasActive };
    }),
    databases: ours.flatMap((database) => {
      const { name, facts, publications, publicationsRead, otherPublications, shapes } = database;
      if (publications === undefined) return [];
      const subscription = database.subscription ?? (/^cloudctl_/.test(database.slot) ? database.slot : undefined);
      return [
        {
          name,
          now: facts,
          publications,
          publicationsRead,
          otherPublications,
          shapes,
          subscription,
          pendingTables: findTablesWithUnconfirmedWrites(database),
        },
      ];
    }),
  };
}
