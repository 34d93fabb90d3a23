import { quoteShellArg } from '../../../../cli/shell-quote.ts';
import type { ReplicationStopCauseFix, WatchRuleViolation } from '../../status-sample.ts';
import type { PostgresqlWatchRule, PostgresqlWatchRuleDatabase } from '../rule-input.ts';

/** Number of consecutive polls without a slot after which the slot counts as dropped. */
export const missedPollsUntilSlotCountsAsDropped = 2;

const startAgainHint = 'start the migration again, which copies all rows again; the copied rows stay on the target';

export const replicationSlotWatchRule: PostgresqlWatchRule = ({ slots: seenSlot, cluster }) =>
  seenSlot.flatMap(({ name, database, slot, missedPolls }): readonly WatchRuleViolation[] => {
    const part = { database, object: name };
    if (slot === undefined) {
      if (missedPolls < missedPollsUntilSlotCountsAsDropped) return [];
      return [
        {
          ...part,
          rule: 'slot-dropped',
          observed: `the replication slot ${name} does not exist any more`,
          hint: `check in the control panel whether the migration was stopped; else ${startAgainHint}`,
          fix: buildCloudctlDbCommandStopCauseFix('migrate', cluster),
        },
      ];
    }
    if (slot.walStatus !== 'lost' && slot.invalidated === undefined) return [];
    const why = slot.invalidated === undefined ? 'the required WAL was removed' : `invalidated: ${slot.invalidated}`;
    return [
      {
        ...part,
        rule: 'slot-lost',
        observed: `the replication slot ${name} is lost (${why})`,
        hint: `raise max_slot_wal_keep_size on the source, stop the migration, drop the slot; ${startAgainHint}`,
        fix: buildCloudctlDbCommandStopCauseFix('stop', cluster),
      },
    ];
  });

/** A migration that was started long ago and has no slot in any database. */
export const missingSlotRule: PostgresqlWatchRule = ({ slots, now, startedAt, limits, cluster }) => {
  if (startedAt === undefined || slots.length > 0 || now.at - startedAt < limits.missingSlot) return [];
  if (now.inRecovery || now.dumps.length > 0) return [];
  return [
    {
      rule: 'slot-missing',
      observed: 'the source has no replication slot of the migration',
      hint: 'the slot was dropped, the migration has ended, or the service is still copying the schema: check its status',
      fix: buildCloudctlDbCommandStopCauseFix('status', cluster),
    },
  ];
};

export const publicationChangeWatchRule: PostgresqlWatchRule = ({ databases, slots, cluster }) =>
  databases.flatMap((database) => {
    const { now, name, publications: first } = database;
    if (now === undefined) return [];
    const slot = slots.find((one) => one.database === name);
    const missing = slot?.slot === undefined ? [] : missingPublications(database, slot.name);
    const names = [...new Set([...publicationsToCheck(database), ...missing])];
    return names.flatMap((publication): readonly WatchRuleViolation[] => {
      const after = now.publications.get(publication);
      if (after !== undefined && after === first.get(publication)) return [];
      const part = { database: name, object: publication, fix: buildCloudctlDbCommandStopCauseFix('stop', cluster) };
      return [
        after === undefined
          ? {
              ...part,
              rule: 'publication-dropped',
              observed: `the publication ${publication} does not exist any more`,
              hint: `stop the migration (creating the publication again does not help); ${startAgainHint}`,
            }
          : {
              ...part,
              rule: 'publication-changed',
              observed: `the content of the publication ${publication} has changed`,
              hint: 'undo the change; rows that were not published in between are missing on the target',
            },
      ];
    });
  });

/**
 * The publications of the migration: those that the target subscribes to, else those whose names migration engines use,
 * else all.
 */
function publicationsToCheck({
  publications: first,
  publicationsRead,
}: PostgresqlWatchRuleDatabase): readonly string[] {
  const names = [...first.keys()];
  const known = names.filter((name) => publicationsRead.includes(name));
  if (known.length > 0) return known;
  const marked = names.filter((name) => /^(cloudctl_|aiven_db_migrate_)/.test(name));
  return marked.length > 0 ? marked : names;
}

/**
 * The migration creates the publication before the slot. A slot without a publication therefore shows that the publication
 * was dropped, even if no earlier poll found the publication.
 */
function missingPublications(
  { now, publicationsRead, otherPublications = [] }: PostgresqlWatchRuleDatabase,
  slot: string,
): readonly string[] {
  const present = [...(now?.publications.keys() ?? [])];
  if (publicationsRead.length > 0) return publicationsRead.filter((name) => !present.includes(name));
  return present.every((name) => otherPublications.includes(name)) ? [slot] : [];
}

/** The command for the next step at the service. */
export function buildCloudctlDbCommandStopCauseFix(
  command: 'migrate' | 'status' | 'stop',
  cluster: string | undefined,
): ReplicationStopCauseFix {
  return {
    run_on: 'shell',
    statement: `cloudctl db ${command} ${cluster === undefined ? 'CLUSTER_UUID' : quoteShellArg(cluster)}`,
  };
}
