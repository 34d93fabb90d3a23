import { checkConnectionProbe } from '../../connection-probe.ts';
import type { Violation } from '../../status-sample.ts';
import type { WatchRule } from '../rule-input.ts';

/** Whatever may keep the target from connecting the next time, though it may still be connected. */
export const connectionSettingsRule: WatchRule = ({ now, first }) =>
  ['listen_addresses', 'port', 'ssl', 'ssl_cert_file'].flatMap((name): readonly Violation[] => {
    const [was, is] = [first.settings.get(name)?.value, now.settings.get(name)];
    if (was === undefined || is === undefined) return [];
    const next = is.inFile !== undefined && !isSameValue(is.inFile, was) ? is.inFile : undefined;
    if (is.value === was && next === undefined) return [];
    return [
      {
        rule: `${name.replaceAll('_', '-')}-changed`,
        observed:
          next === undefined || is.value !== was
            ? `${name} was ${displayValue(was)} and is ${displayValue(is.value)}`
            : `${name} is to become ${displayValue(next)} instead of ${displayValue(was)}`,
        hint: `the target may not be able to connect again: put ${name} back to ${displayValue(was)}`,
      },
    ];
  });

export const hostRulesRule: WatchRule = ({ now, first }) =>
  now.hostRules === first.hostRules || now.hostRules === undefined || first.hostRules === undefined
    ? []
    : [
        {
          rule: 'pg-hba-changed',
          observed: 'pg_hba.conf is not what it was when the watch began',
          hint: 'the target must still be let in with host rules for its address, for every database: compare it, and put it back',
        },
      ];

export const roleRule: WatchRule = ({ now, first }) => {
  const [was, is] = [first.role, now.role];
  if (was === undefined || is === undefined) return [];
  const lost = [
    ...(was.superuser && !is.superuser ? ['SUPERUSER'] : []),
    ...(was.replication && !is.replication ? ['REPLICATION'] : []),
    ...(was.login && !is.login ? ['LOGIN'] : []),
  ];
  const told: Violation[] = [];
  if (lost.length > 0) {
    told.push({
      rule: 'role-changed',
      observed: `the role ${is.name} lost ${lost.join(', ')}`,
      hint: `give it back: ALTER ROLE "${is.name}" ${lost.join(' ')}`,
    });
  }
  if (
    is.secondsLeft !== undefined &&
    is.secondsLeft < 14 * 86_400 &&
    (is.secondsLeft <= 0 || was.secondsLeft === undefined)
  ) {
    told.push({
      rule: 'password-expires',
      observed:
        is.secondsLeft <= 0 ? `the password of ${is.name} has expired` : `the password of ${is.name} expires now`,
      hint: `ALTER ROLE "${is.name}" VALID UNTIL 'infinity': the target logs in with it whenever it connects again`,
    });
  }
  if (lost.length === 0 && was.revision !== undefined && is.revision !== undefined && was.revision !== is.revision) {
    told.push({
      rule: 'role-altered',
      observed: `the role ${is.name} was altered`,
      hint: 'if its password was changed, set it back: the target still uses the old one',
    });
  }
  return told;
};

export const connectionProbeRule: WatchRule = ({ now, first }) => checkConnectionProbe(first.door, now.door);

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
