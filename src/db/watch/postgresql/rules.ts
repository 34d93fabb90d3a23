import { formatBytes, formatDuration } from '../../../base/text.ts';
import { quoteLiteral } from '../../../postgresql/quote.ts';
import { probeViolations } from '../probe.ts';
import type { Violation } from '../sample.ts';
import { applyFailureRule, constraintsQuery } from './cause.ts';
import type { ServerFacts, SettingFacts } from './facts.ts';
import { missingSlotRule, publicationRule, roleRule, slotRule } from './objects.ts';
import { findSlot, type RuleInput, samplesSince, type WatchRule } from './rule.ts';
import { schemaRule } from './schema.ts';
import { isTableSyncSlot } from './slots.ts';

/** The rule for settings that may prevent the next connection of the target, although it is connected now. */
const changedConnectionSettingsWatchRule: WatchRule = ({ now, first }) =>
  ['listen_addresses', 'port', 'ssl', 'ssl_cert_file'].flatMap((name): readonly Violation[] => {
    const [before, after] = [first.settings.get(name)?.value, now.settings.get(name)];
    if (before === undefined || after === undefined) return [];
    const next = after.inFile !== undefined && !isSameValue(after.inFile, before) ? after.inFile : undefined;
    if (after.value === before && next === undefined) return [];
    return [
      {
        rule: `${name.replaceAll('_', '-')}-changed`,
        object: name,
        observed:
          next === undefined || after.value !== before
            ? `${name} changed from ${displayValue(before)} to ${displayValue(after.value)}`
            : `${name} will change from ${displayValue(before)} to ${displayValue(next)}`,
        hint: `set ${name} back to ${displayValue(before)}: the target may not be able to reconnect`,
        fix: { run_on: 'source', statement: `ALTER SYSTEM SET ${name} = ${quoteLiteral(before)};` },
      },
    ];
  });

/**
 * The rule for a change of the host rules. Lines that were removed come first, because they allowed the login of the
 * target.
 */
const hbaRule: WatchRule = ({ now, first }) => {
  const [before, after] = [first.hbaRuleLines, now.hbaRuleLines];
  if (before === undefined || after === undefined || before.join('\n') === after.join('\n')) return [];
  const removed = before.filter((line) => !after.includes(line));
  const added = after.filter((line) => !before.includes(line));
  const part = {
    rule: 'pg-hba-changed',
    hint: 'then run SELECT pg_catalog.pg_reload_conf(): the target must be able to log in to every database',
  };
  const [line] = removed;
  if (line !== undefined) {
    return [
      {
        ...part,
        object: line,
        observed: `pg_hba.conf has lost ${countRules(removed)}: ${line}`,
        fix: { run_on: 'pg_hba.conf', statement: line },
      },
    ];
  }
  const [added0 = 'the order of the rules'] = added;
  return [
    {
      ...part,
      object: added0,
      observed:
        added.length === 0
          ? 'the order of the rules in pg_hba.conf has changed'
          : `pg_hba.conf has ${countRules(added)} more: ${added0}`,
      fix: { run_on: 'source', statement: 'SELECT * FROM pg_catalog.pg_hba_file_rules ORDER BY line_number;' },
    },
  ];
};

function countRules(lines: readonly string[]): string {
  return lines.length === 1 ? 'a rule' : `${lines.length} rules`;
}

/**
 * A refused login is reported for the role; other rules report whether the password of the role or a rule of
 * pg_hba.conf is wrong.
 */
const connectionRule: WatchRule = ({ now, first }) =>
  probeViolations(first.connection, now.connection, 'postgresql').map((violation) =>
    violation.rule === 'login-refused' && now.role !== undefined ? { ...violation, object: now.role.name } : violation,
  );

function isSameValue(file: string, value: string): boolean {
  const plain = (text: string) =>
    text
      .toLowerCase()
      .replace(/^(true|yes|1)$/, 'on')
      .replace(/^(false|no|0)$/, 'off');
  return plain(file) === plain(value);
}

function displayValue(value: string): string {
  return value === '' ? "''" : value;
}

/** The rule for a server that was restarted, or that is no longer the primary. */
const serverRule: WatchRule = ({ now, first, window, limits }) => {
  const recovery =
    // Its hint ends the migration, so one poll is not enough.
    now.inRecovery && !first.inRecovery && window.at(-2)?.inRecovery === true
      ? [
          {
            rule: 'source-in-recovery',
            observed: 'the source is in recovery: it was demoted to a standby',
            hint: 'stop the migration, empty the target, and start it again from the new primary, which does not have the slot of the migration',
          },
        ]
      : [];
  const restart = window.findLastIndex(({ startedAt }) => startedAt !== now.startedAt);
  const seenAt = restart < 0 ? (first.startedAt === now.startedAt ? undefined : window[0]?.at) : window[restart]?.at;
  if (seenAt === undefined || now.at - seenAt > limits.restartNotice) return recovery;
  return [
    ...recovery,
    {
      rule: 'source-restarted',
      observed: `the source was restarted at ${now.startedAt}`,
      hint: 'check the log of the source if the target does not reconnect within seconds',
    },
  ];
};

/**
 * The rule for changes of wal_level, max_replication_slots and max_wal_senders, now or at the next restart
 * (docs/service.md S9.15).
 */
const settingsRule: WatchRule = (input) => [...checkWalLevel(input), ...checkCounts(input)];

function checkWalLevel({ now, first, slots }: RuleInput) {
  const setting = now.settings.get('wal_level');
  if (setting === undefined) return [];
  const next = valueAfterRestart(setting);
  const rule = 'wal-level-changed';
  if (next !== undefined && !isLogical(next)) {
    const named = slots.find(({ slot }) => slot !== undefined)?.name;
    return [
      {
        rule,
        observed: `wal_level will change to ${next} at the next restart`,
        hint: `DO NOT RESTART THE SOURCE: with ${named === undefined ? 'a replication slot' : `the slot ${named}`} the server does not start (FATAL: logical replication slot exists, but wal_level < logical). First run ALTER SYSTEM SET wal_level = 'logical'`,
      },
    ];
  }
  const before = first.settings.get('wal_level')?.value;
  if (isLogical(setting.value) || before === undefined || !isLogical(before)) return [];
  return [
    {
      rule,
      observed: `wal_level changed from ${before} to ${setting.value}`,
      hint: "replication has ended: set wal_level = 'logical' and restart the source; stop the migration, empty the target, and start it again",
    },
  ];
}

function checkCounts({ now, first }: RuleInput) {
  const used = now.slots.length;
  return (['max_replication_slots', 'max_wal_senders'] as const).flatMap((name) => {
    const setting = now.settings.get(name);
    if (setting === undefined) return [];
    const next = valueAfterRestart(setting);
    const rule = `${name.replaceAll('_', '-')}-changed`;
    const before = Number(first.settings.get(name)?.value ?? setting.value);
    if (next !== undefined && Number(next) < Number(setting.value)) {
      const fatal = name === 'max_replication_slots' && Number(next) < used;
      return [
        {
          rule,
          observed: `${name} will change from ${setting.value} to ${next} at the next restart; ${used} slots exist`,
          hint: fatal
            ? `DO NOT RESTART THE SOURCE: with more slots than this the server does not start (FATAL: too many replication slots active before shutdown). First run ALTER SYSTEM SET ${name} = ${Number(setting.value)}`
            : `before the next restart run ALTER SYSTEM SET ${name} = ${Number(setting.value)}`,
        },
      ];
    }
    if (Number(setting.value) >= before) return [];
    return [
      {
        rule,
        observed: `${name} changed from ${before} to ${setting.value}`,
        hint: `run ALTER SYSTEM SET ${name} = ${before}, then restart the source`,
      },
    ];
  });
}

/** The value of the setting after the next restart; undefined if it does not change. */
function valueAfterRestart({ value, inFile, pendingRestart }: SettingFacts): string | undefined {
  if (inFile !== undefined) return inFile.toLowerCase() === value.toLowerCase() ? undefined : inFile;
  // If the role cannot read the configuration files, it is known only that the value will change.
  return pendingRestart ? 'another value' : undefined;
}

function isLogical(level: string): boolean {
  return level.toLowerCase() === 'logical';
}

/** The rule for WAL that a slot retains until the slot is lost or the disk is full. */
const retainedWalRule: WatchRule = ({ slots, window, now, first }) =>
  slots.flatMap(({ name, database, slot }): readonly Violation[] => {
    if (slot === undefined || slot.walStatus === undefined || !['extended', 'unreserved'].includes(slot.walStatus))
      return [];
    const before = window[0] ?? first;
    const seconds = (now.at - before.at) / 1000;
    const grown = (slot.retained ?? 0) - (findSlot(before, name)?.retained ?? slot.retained ?? 0);
    const rate = seconds > 0 ? grown / seconds : 0;
    if (slot.walStatus === 'extended' && rate <= 0) return [];
    const kept = `${formatBytes(slot.retained ?? 0)} of WAL are retained for the slot ${name} (${slot.walStatus})`;
    const growing = rate > 0 ? `, growing by ${formatBytes(rate)}/s` : '';
    const lost =
      slot.safeWalBytes === undefined || rate <= 0
        ? ''
        : `; the slot is lost in ${formatDuration((Math.max(0, slot.safeWalBytes) / rate) * 1000)}`;
    return [
      {
        rule: 'wal-disk',
        database,
        observed: `${kept}${growing}${lost}`,
        hint:
          slot.safeWalBytes === undefined
            ? 'lower the load on the source, or stop the migration before the disk is full'
            : 'raise max_slot_wal_keep_size as far as the disk allows and run SELECT pg_catalog.pg_reload_conf()',
      },
    ];
  });

/**
 * The rule for a table whose initial copy fails: its slot remains, but its worker is rarely observed, because each
 * attempt fails at once and the next attempt starts five seconds later.
 */
const copyRule: WatchRule = ({ now, window, limits, databases }) => {
  const samples = samplesSince(window, limits.failingApply);
  if (samples === undefined) return [];
  return now.slots.filter(isTableSyncSlot).flatMap(({ name, database }): readonly Violation[] => {
    if (database === undefined || !databases.some((one) => one.name === database)) return [];
    const stays = samples.filter((facts) => findSlot(facts, name) !== undefined).length >= 0.8 * samples.length;
    const worked = samples.filter(({ senders }) => senders.some(({ application }) => application === name)).length;
    if (!stays || worked > 0.2 * samples.length) return [];
    return [
      {
        rule: 'copy-failing',
        database,
        observed: `the initial copy of a table has failed repeatedly for ${formatDuration(now.at - samples[0]!.at)}`,
        object: name,
        fix: constraintsQuery(name),
        hint: 'empty the table on the target, and check it for missing columns and constraints (rows written there cause duplicate keys): only the log of the target names the one that fails, and the statement lists those of the table',
      },
    ];
  });
};

/** The rule for commits of the application that wait for a synchronous standby. */
const blockedCommitsRule: WatchRule = ({ now, window }) => {
  const before = window.at(-2);
  if (now.blocked.commits === 0 || before === undefined || before.blocked.commits === 0) return [];
  return [
    {
      rule: 'commits-blocked',
      observed: `${now.blocked.commits} commits wait for a synchronous standby, the oldest for ${formatDuration(now.blocked.seconds * 1000)}`,
      hint: "synchronous_standby_names includes the target: list only the real standbys, or ALTER SYSTEM SET synchronous_standby_names = '' and reload",
    },
  ];
};

/** The number of rollbacks below which the rule reports nothing. */
const minRollbacks = 10;

/**
 * The rule for a rising share of rollbacks, which shows that statements of the application fail. A WAL sender counts
 * all transactions that it decoded as rollbacks when it ends, so only samples with the same WAL sender are compared,
 * less the decoded transactions.
 */
const rollbackRule: WatchRule = ({ slots, databases, window, first, limits }) =>
  slots.flatMap(({ name, database }): readonly Violation[] => {
    const samples = samplesSince(window, Math.min(limits.failingApply, limits.inactiveSlot)) ?? window;
    const [from, to] = [samples[0], samples.at(-1)];
    if (from === undefined || to === undefined || from === to || !hasSameWalSender(samples, name)) return [];
    const counted = countTransactions(from, to, database, name);
    const before = transactionCountsOf(first, database);
    const usual = before === undefined ? 0 : before.rollbacks / Math.max(1, before.commits + before.rollbacks);
    const share = counted.rollbacks / Math.max(1, counted.commits + counted.rollbacks);
    if (counted.rollbacks < minRollbacks || share < Math.max(0.05, 5 * usual)) return [];
    const shapes = databases.find((one) => one.name === database)?.shapes;
    const keyless = [...(shapes?.now.values() ?? [])]
      .filter(({ hasReplicaIdentity }) => !hasReplicaIdentity)
      .map(({ schema, table }) => `${schema}.${table}`);
    const suspects = keyless.length === 0 ? '' : `; without a replica identity: ${keyless.slice(0, 5).join(', ')}`;
    return [
      {
        rule: 'rollbacks',
        database,
        observed: `${counted.rollbacks} transactions failed in ${formatDuration(to.at - from.at)}, ${Math.round(100 * share)} % of all${suspects}`,
        hint: 'search the log of the source for "does not have a replica identity and publishes updates" and run ALTER TABLE … REPLICA IDENTITY FULL',
      },
    ];
  });

function hasSameWalSender(window: readonly ServerFacts[], name: string): boolean {
  const pid = findSlot(window[0]!, name)?.pid;
  return pid !== undefined && window.every((facts) => findSlot(facts, name)?.pid === pid);
}

function countTransactions(from: ServerFacts, to: ServerFacts, database: string, slot: string) {
  const [before, after] = [transactionCountsOf(from, database), transactionCountsOf(to, database)];
  const decoded = (findSlot(to, slot)?.decoded ?? 0) - (findSlot(from, slot)?.decoded ?? 0);
  return {
    commits: (after?.commits ?? 0) - (before?.commits ?? 0),
    rollbacks: Math.max(0, (after?.rollbacks ?? 0) - (before?.rollbacks ?? 0) - Math.max(0, decoded)),
  };
}

function transactionCountsOf(facts: ServerFacts, database: string) {
  return facts.databases.find(({ name }) => name === database);
}

/** Rules for a running migration (docs/service.md S9.15) and other causes that stop a migration, most severe first. */
export const postgresRules: readonly WatchRule[] = [
  settingsRule,
  slotRule,
  missingSlotRule,
  publicationRule,
  applyFailureRule,
  copyRule,
  retainedWalRule,
  blockedCommitsRule,
  rollbackRule,
  schemaRule,
  serverRule,
  roleRule,
  connectionRule,
  hbaRule,
  changedConnectionSettingsWatchRule,
];

/** The rules whose violation means that nothing is replicated. */
export const stoppingRules: ReadonlySet<string> = new Set([
  'apply-blocked',
  'apply-failing',
  'apply-failing-or-disconnected',
  'copy-failing',
  'publication-dropped',
  'slot-dropped',
  'slot-lost',
  'target-disconnected',
]);
