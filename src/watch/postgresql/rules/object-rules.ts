import type { Violation } from '../../status-sample.ts';
import type { SeenDatabase, WatchRule, WatchRuleInput } from '../rule-input.ts';

/** Consecutive polls without a slot after which it counts as dropped. */
export const pollsUntilDropped = 2;

const startAgainHint = 'what was copied stays on the target; start the migration again to go on from a new copy';

export const slotRule: WatchRule = ({ slots: seenSlot }) =>
  seenSlot.flatMap(({ name, database, slot, missedPolls }): readonly Violation[] => {
    if (slot === undefined) {
      if (missedPolls < pollsUntilDropped) return [];
      return [
        {
          rule: 'slot-dropped',
          database,
          observed: `the replication slot ${name} is gone`,
          hint: `the migration was stopped or is over, or somebody dropped it: look in the control panel; ${startAgainHint}`,
        },
      ];
    }
    if (slot.walStatus !== 'lost' && slot.invalidated === undefined) return [];
    const why = slot.invalidated === undefined ? 'the WAL it needs was removed' : `invalidated: ${slot.invalidated}`;
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
              observed: `the publication ${publication} is gone`,
              hint: `changes can no longer be decoded, and one made again now does not help: stop the migration; ${startAgainHint}`,
            }
          : {
              ...part,
              observed: `the publication ${publication} publishes something else than before`,
              hint: 'change it back; tables that were left out meanwhile lack rows on the target',
            },
      ];
    });
  });

/** Publications of the migration: those that the target subscribes to, else those named by a migration engine, else all. */
function publicationsToCheck({ publications: first, publicationsRead }: SeenDatabase): readonly string[] {
  const names = [...first.keys()];
  const known = names.filter((name) => publicationsRead.includes(name));
  if (known.length > 0) return known;
  const marked = names.filter((name) => /^(cloudctl_|aiven_db_migrate_)/.test(name));
  return marked.length > 0 ? marked : names;
}

/** DDL is not replicated, so the target fails on the first row that needs it. */
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
        'create it on the target in the same shape: the target stalls on its first row',
      ),
      tableViolation(
        'schema-changed',
        name,
        altered.map(({ was: before }) => before),
        'altered',
        'make the same change on the target: rows in another shape stop it',
      ),
      tableViolation(
        'replica-identity-changed',
        name,
        identity.map(({ is: after }) => after),
        'given another key or replica identity',
        identity.every(({ is: after }) => after.hasReplicaIdentity)
          ? 'make the same change on the target, or change it back'
          : 'UPDATE and DELETE on it fail in the application now: ALTER TABLE … REPLICA IDENTITY FULL, or put the primary key back',
      ),
      tableViolation('table-dropped', name, dropped, 'dropped', 'drop it on the target as well, after the migration'),
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
  return [{ rule, database, observed: `${names.join(', ')}${more} ${were} ${what} since the watch began`, hint }];
}
