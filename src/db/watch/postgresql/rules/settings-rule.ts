import type { PostgresqlWatchRule, PostgresqlWatchRuleInput } from '../rule-input.ts';
import type { WatchedSetting } from '../server-facts.ts';

/**
 * The rule for changes of wal_level, max_replication_slots and max_wal_senders, now or at the next restart
 * (docs/service.md S9.15).
 */
export const replicationSettingsWatchRule: PostgresqlWatchRule = (input) => [
  ...checkWalLevel(input),
  ...checkCounts(input),
];

function checkWalLevel({ now, first, slots }: PostgresqlWatchRuleInput) {
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
      hint: "set wal_level = 'logical', restart the source, and start the migration again: replication has ended",
    },
  ];
}

function checkCounts({ now, first }: PostgresqlWatchRuleInput) {
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
function valueAfterRestart({ value, inFile, pendingRestart }: WatchedSetting): string | undefined {
  if (inFile !== undefined) return inFile.toLowerCase() === value.toLowerCase() ? undefined : inFile;
  // If the role cannot read the configuration files, it is known only that the value will change.
  return pendingRestart ? 'another value' : undefined;
}

function isLogical(level: string): boolean {
  return level.toLowerCase() === 'logical';
}
