import { quoteLiteral } from '../../../../postgresql/quote.ts';
import { findSourceConnectionProbeViolations } from '../../connection-probe.ts';
import type { WatchRuleViolation } from '../../status-sample.ts';
import type { PostgresqlWatchRule } from '../rule-input.ts';

/** The rule for settings that may prevent the next connection of the target, although it is connected now. */
export const changedConnectionSettingsWatchRule: PostgresqlWatchRule = ({ now, first }) =>
  ['listen_addresses', 'port', 'ssl', 'ssl_cert_file'].flatMap((name): readonly WatchRuleViolation[] => {
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
export const hbaChangeWatchRule: PostgresqlWatchRule = ({ now, first }) => {
  const [before, after] = [first.hbaRuleLines, now.hbaRuleLines];
  if (before === undefined || after === undefined || before.join('\n') === after.join('\n')) return [];
  const removed = before.filter((line) => !after.includes(line));
  const added = after.filter((line) => !before.includes(line));
  const part = {
    rule: 'pg-hba-changed',
    hint: 'then run SELECT pg_reload_conf(): the target must be able to log in to every database',
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
      fix: { run_on: 'source', statement: 'SELECT * FROM pg_hba_file_rules ORDER BY line_number;' },
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
export const sourceConnectionProbeWatchRule: PostgresqlWatchRule = ({ now, first }) =>
  findSourceConnectionProbeViolations(first.connection, now.connection, 'postgresql').map((violation) =>
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
