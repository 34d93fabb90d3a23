import { quoteIdentifier } from '../../../postgresql/quote.ts';
import { compareConnectionProbes } from '../../connection-probe.ts';
import type { Violation } from '../../status-sample.ts';
import type { WatchRule } from '../rule-input.ts';

/** The rule for settings that may prevent the next connection of the target, although it is connected now. */
export const changedConnectionSettingsWatchRule: WatchRule = ({ now, first }) =>
  ['listen_addresses', 'port', 'ssl', 'ssl_cert_file'].flatMap((name): readonly Violation[] => {
    const [before, after] = [first.settings.get(name)?.value, now.settings.get(name)];
    if (before === undefined || after === undefined) return [];
    const next = after.inFile !== undefined && !isSameValue(after.inFile, before) ? after.inFile : undefined;
    if (after.value === before && next === undefined) return [];
    return [
      {
        rule: `${name.replaceAll('_', '-')}-changed`,
        observed:
          next === undefined || after.value !== before
            ? `${name} changed from ${displayValue(before)} to ${displayValue(after.value)}`
            : `${name} will change from ${displayValue(before)} to ${displayValue(next)}`,
        hint: `set ${name} back to ${displayValue(before)}: the target may not be able to reconnect`,
      },
    ];
  });

export const hostRulesRule: WatchRule = ({ now, first }) =>
  now.hostRules === first.hostRules || now.hostRules === undefined || first.hostRules === undefined
    ? []
    : [
        {
          rule: 'pg-hba-changed',
          observed: 'pg_hba.conf has changed since the watch started',
          hint: 'check that pg_hba.conf still allows the address of the target for every database',
        },
      ];

export const roleRule: WatchRule = ({ now, first }) => {
  const [before, after] = [first.role, now.role];
  if (before === undefined || after === undefined) return [];
  const lost = [
    ...(before.superuser && !after.superuser ? ['SUPERUSER'] : []),
    ...(before.replication && !after.replication ? ['REPLICATION'] : []),
    ...(before.login && !after.login ? ['LOGIN'] : []),
  ];
  const violations: Violation[] = [];
  if (lost.length > 0) {
    violations.push({
      rule: 'role-changed',
      observed: `the role ${after.name} lost ${lost.join(', ')}`,
      hint: `run ALTER ROLE ${quoteIdentifier(after.name)} ${lost.join(' ')}`,
    });
  }
  if (
    after.secondsLeft !== undefined &&
    after.secondsLeft < 14 * 86_400 &&
    (after.secondsLeft <= 0 || before.secondsLeft === undefined)
  ) {
    violations.push({
      rule: 'password-expires',
      observed:
        after.secondsLeft <= 0
          ? `the password of ${after.name} has expired`
          : `the password of ${after.name} expires within two weeks`,
      hint: `run ALTER ROLE ${quoteIdentifier(after.name)} VALID UNTIL 'infinity': the target logs in with it when it reconnects`,
    });
  }
  if (
    lost.length === 0 &&
    before.revision !== undefined &&
    after.revision !== undefined &&
    before.revision !== after.revision
  ) {
    violations.push({
      rule: 'role-altered',
      observed: `the role ${after.name} was altered`,
      hint: 'if the password was changed, restore it: the target still uses the old one',
    });
  }
  return violations;
};

export const connectionChangeRule: WatchRule = ({ now, first }) =>
  compareConnectionProbes(first.connection, now.connection);

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
