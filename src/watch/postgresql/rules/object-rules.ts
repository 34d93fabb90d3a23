import type { Violation } from '../../status-sample.ts';
import type { DatabaseForRules, WatchRule, WatchRuleInput } from '../rule-input.ts';

/** Number of consecutive polls without a slot after which the slot counts as dropped. */
export const pollsUntilDropped = 2;

const startAgainHint = 'start the migration again, which copies all rows again; the copied rows stay on the target';

export const slotRule: WatchRule = ({ slots: seenSlot }) =>
  seenSlot.flatMap(({ name, database, slot, missedPolls }): readonly Violation[] => {
    if (slot === undefined) {
      if (missedPolls < pollsUntilDropped) return [];
      return [
        {
          rule: 'slot-dropped',
          database,
          observed: `the replication slot ${name} does not exist any more`,
          hint: `check in the control panel whether the migration was stopped; else ${startAgainHint}`,
        },
      ];
    }
    if (slot.walStatus !== 'lost' && slot.invalidated === undefined) return [];
    const why = slot.invalidated === undefined ? 'the required WAL was removed' : `invalidated: ${slot.invalidated}`;
    return [
      {
        rule: 'slot-lost',
        database,
        observed: `the replication slot ${name} is lost (${why})`,
        hint: `raise max_slot_wal_keep_size on the source, stop the migration, drop the slot; ${startAgainHint}`,
      },
    ];
  });

export const publicationRule: WatchRule = ({ databases }) =>
  databases.flatMap((database) => {
    const { now, name, publications: first } = database;
    if (now === undefined) return [];
    return publicationsToCheck(database).flatMap((publication): readonly Violation[] => {
      const after = now.publications.get(publication);
      if (after === first.get(publication)) return [];
      const part = { database: name, rule: after === undefined ? 'publication-dropped' : 'publication-changed' };
      return [
        after === undefined
          ? {
              ...part,
              observed: `the publication ${publication} does not exist any more`,
              hint: `stop the migration (creating the publication again does not help); ${startAgainHint}`,
            }
          : {
              ...part,
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
function publicationsToCheck({ publications: first, publicationsRead }: DatabaseForRules): readonly string[] {
  const names = [...first.keys()];
  const known = names.filter((name) => publicationsRead.includes(name));
  if (known.length > 0) return known;
  const marked = names.filter((name) => /^(cloudctl_|aiven_db_migrate_)/.test(name));
  return marked.length > 0 ? marked : names;
}

/** DDL is not replicated, so the target fails on the first row that requires the change of the schema. */
export const schemaRule: WatchRule = ({ databases }: WatchRuleInput) =>
  databases.flatMap(({ name, shapes }) => {
    if (shapes === undefined) return [];
    const { first, now } = shapes;
    const fresh = [...now].filter(([oid]) => !first.has(oid)).map(([, shape]) => shape);
    const both = [...now].flatMap(([oid, after]) => {
      const before = first.get(oid);
      return before === undefined ? [] : [{ was: before, is: after }];
    });
    const altered = both.filter(
      ({ was: before, is: after }) => before.columns !== after.columns || before.name !== after.name,
    );
    const identity = both.filter(({ was: before, is: after }) => before.identity !== after.identity);
    const dropped = [...first].filter(([oid]) => !now.has(oid)).map(([, shape]) => shape);
    return [
      tableViolation(
        'table-new',
        name,
        fresh,
        'created',
        'create the table on the target with the same columns: replication fails on its first row',
      ),
      tableViolation(
        'schema-changed',
        name,
        altered.map(({ was: before }) => before),
        'altered',
        'make the same change on the target: replication fails on rows with other columns',
      ),
      tableViolation(
        'replica-identity-changed',
        name,
        identity.map(({ is: after }) => after),
        'given another key or replica identity',
        identity.every(({ is: after }) => after.hasReplicaIdentity)
          ? 'make the same change on the target, or undo it'
          : 'run ALTER TABLE … REPLICA IDENTITY FULL or restore the primary key: UPDATE and DELETE of the application fail now',
      ),
      tableViolation('table-dropped', name, dropped, 'dropped', 'drop the table on the target after the migration'),
    ].flat();
  });

function tableViolation(
  rule: string,
  database: string,
  tables: readonly { readonly name: string }[],
  what: string,
  hint: string,
): readonly Violation[] {
  if (tables.length === 0) return [];
  const names = tables.slice(0, 5).map(({ name }) => name);
  const more = tables.length > names.length ? ` and ${tables.length - names.length} more` : '';
  const were = tables.length === 1 ? 'was' : 'were';
  return [{ rule, database, observed: `${names.join(', ')}${more} ${were} ${what} since the watch started`, hint }];
}
