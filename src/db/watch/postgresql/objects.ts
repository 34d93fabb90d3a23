import { quoteShellArg } from '../../../base/text.ts';
import { quoteLiteral } from '../../../postgresql/quote.ts';
import { type CauseFix, quoteReported, type Violation } from '../sample.ts';
import type { RoleFacts, StoredTimeout } from './facts.ts';
import type { RuleDatabase, RuleInput, WatchRule } from './rule.ts';

/** Number of consecutive polls without a slot after which the slot counts as dropped. */
export const droppedAfterPolls = 2;

/** A start is refused while the target holds rows, or the source objects of the migration. */
const startAgainHint = 'stop the migration, then empty the target and start it again: all rows are copied again';

export const slotRule: WatchRule = ({ slots: seenSlot, ...input }) =>
  seenSlot.flatMap(({ name, database, slot, missedPolls }): readonly Violation[] => {
    const part = { database, object: name };
    if (slot === undefined) {
      if (missedPolls < droppedAfterPolls) return [];
      return [
        {
          ...part,
          rule: 'slot-dropped',
          observed: `the replication slot ${name} does not exist any more`,
          hint: `if nobody has stopped the migration: ${startAgainHint}`,
          fix: serviceFix('stop', input),
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
        hint: `raise max_slot_wal_keep_size on the source; ${startAgainHint}`,
        fix: serviceFix('stop', input),
      },
    ];
  });

/** A migration that was started long ago and has no slot in any database. */
export const missingSlotRule: WatchRule = ({ slots, now, startedAt, limits, cluster, command }) => {
  if (startedAt === undefined || slots.length > 0 || now.at - startedAt < limits.missingSlot) return [];
  if (now.inRecovery || now.dumps.length > 0) return [];
  return [
    {
      rule: 'slot-missing',
      observed: 'the source has no replication slot of the migration',
      hint: 'the slot was dropped, the migration has ended, or the service is still copying the schema: check its status',
      fix: serviceFix('status', { cluster, command }),
    },
  ];
};

export const publicationRule: WatchRule = ({ databases, slots, ...input }) =>
  databases.flatMap((database) => {
    const { now, name, publications: first } = database;
    if (now === undefined) return [];
    const slot = slots.find((one) => one.database === name);
    const missing = slot?.slot === undefined ? [] : missingPublications(database, slot.name);
    const names = [...new Set([...publicationsToCheck(database), ...missing])];
    return names.flatMap((publication): readonly Violation[] => {
      const after = now.publications.get(publication);
      if (after !== undefined && after === first.get(publication)) return [];
      const part = { database: name, object: publication, fix: serviceFix('stop', input) };
      return [
        after === undefined
          ? {
              ...part,
              rule: 'publication-dropped',
              observed: `the publication ${publication} does not exist any more`,
              hint: `creating the publication again does not help; ${startAgainHint}`,
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
function publicationsToCheck({ publications: first, publicationsRead }: RuleDatabase): readonly string[] {
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
  { now, publicationsRead, otherPublications = [] }: RuleDatabase,
  slot: string,
): readonly string[] {
  const present = [...(now?.publications.keys() ?? [])];
  if (publicationsRead.length > 0) return publicationsRead.filter((name) => !present.includes(name));
  return present.every((name) => otherPublications.includes(name)) ? [slot] : [];
}

/** The command for the next step at the service. */
function serviceFix(
  word: 'status' | 'stop',
  { cluster, from = [], command = plainCommand }: Pick<RuleInput, 'cluster' | 'from' | 'command'>,
): CauseFix {
  const name = cluster === undefined ? 'CLUSTER_UUID' : quoteShellArg(cluster);
  return { run_on: 'shell', statement: command(`db ${word}`, name, ...from) };
}

function plainCommand(...words: readonly string[]): string {
  return ['cloudctl', ...words].join(' ');
}

/**
 * Changes of the role after which the next login of the target to the source fails, or its statements are ended.
 */
export const roleRule: WatchRule = ({ now, first }) => {
  const [before, after] = [first.role, now.role];
  if (before === undefined || after === undefined || before.name !== after.name) return [];
  const quoted = quoteReported(after.name);
  const violation = (rule: string, observed: string, hint: string, statement: string): Violation => {
    const fix: CauseFix = { run_on: 'source', statement };
    return { rule, object: after.name, observed, hint, fix };
  };
  const lost = lostAttributes(before, after);
  const timeouts = after.timeouts.filter((one) => !before.timeouts.some((earlier) => isSameTimeout(earlier, one)));
  const isExpiring =
    after.secondsLeft !== undefined &&
    after.secondsLeft < 14 * 86_400 &&
    (after.secondsLeft <= 0 || before.secondsLeft === undefined);
  const isAltered =
    lost.length === 0 &&
    timeouts.length === 0 &&
    before.revision !== undefined &&
    after.revision !== undefined &&
    before.revision !== after.revision;
  return [
    ...(lost.length === 0
      ? []
      : [
          violation(
            'role-changed',
            `the role ${after.name} lost ${lost.join(', ')}`,
            'give the role its attributes back: the target logs in as this role',
            `ALTER ROLE ${quoted} ${lost.join(' ')};`,
          ),
        ]),
    ...(isExpiring
      ? [
          violation(
            (after.secondsLeft ?? 0) <= 0 ? 'password-expired' : 'password-expires',
            (after.secondsLeft ?? 0) <= 0
              ? `the password of ${after.name} has expired`
              : `the password of ${after.name} expires within two weeks`,
            'extend the validity: the target needs the password when it reconnects',
            `ALTER ROLE ${quoted} VALID UNTIL 'infinity';`,
          ),
        ]
      : []),
    ...timeouts.map((timeout) =>
      violation(
        'role-timeout',
        `${describeOwner(after.name, timeout)} has ${timeout.setting}`,
        'reset the setting: this timeout ends the copy of a large table',
        resetSetting(after.name, timeout),
      ),
    ),
    ...(isAltered
      ? [
          violation(
            'role-altered',
            `the role ${after.name} was altered`,
            'if the password was changed, restore the password that was given to `db migrate`: the target still uses it',
            `\\password ${quoted}`,
          ),
        ]
      : []),
  ];
};

function lostAttributes(before: RoleFacts, after: RoleFacts): readonly string[] {
  return [
    ...(before.superuser && !after.superuser ? ['SUPERUSER'] : []),
    ...(before.replication && !after.replication ? ['REPLICATION'] : []),
    ...(before.login && !after.login ? ['LOGIN'] : []),
  ];
}

function isSameTimeout(one: StoredTimeout, other: StoredTimeout): boolean {
  return one.setting === other.setting && one.isOfRole === other.isOfRole && one.database === other.database;
}

function describeOwner(role: string, { isOfRole, database }: StoredTimeout): string {
  if (!isOfRole) return `the database ${database ?? 'of the role'}`;
  return database === undefined ? `the role ${role}` : `the role ${role} in the database ${database}`;
}

/**
 * Returns the statement that removes a timeout from the role, from the database, or from the role in that database, wherever
 * the timeout is stored.
 */
function resetSetting(role: string, { setting, isOfRole, database }: StoredTimeout): string {
  const [name = ''] = setting.split('=');
  const where = [
    ...(isOfRole ? [`ROLE ${quoteReported(role)}`] : []),
    ...(database === undefined ? [] : [`DATABASE ${quoteReported(database)}`]),
  ].join(' IN ');
  return where !== '' && /^[a-z_]+$/.test(name)
    ? `ALTER ${where} RESET ${name};`
    : `SELECT * FROM pg_db_role_setting WHERE ${quoteLiteral(setting)} = ANY (setconfig);`;
}
