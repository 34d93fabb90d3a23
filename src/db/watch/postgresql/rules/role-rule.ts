import { quoteLiteral } from '../../../../postgresql/quote.ts';
import { quoteServerReportedName } from '../../quote-server-reported-name.ts';
import type { ReplicationStopCauseFix, WatchRuleViolation } from '../../status-sample.ts';
import type { PostgresqlWatchRule } from '../rule-input.ts';
import type { StoredTimeoutSetting, WatchedRole } from '../server-facts.ts';

/**
 * Changes of the role after which the next login of the target to the source fails, or its statements are ended.
 */
export const roleChangeWatchRule: PostgresqlWatchRule = ({ now, first }) => {
  const [before, after] = [first.role, now.role];
  if (before === undefined || after === undefined || before.name !== after.name) return [];
  const quoted = quoteServerReportedName(after.name);
  const violation = (rule: string, observed: string, hint: string, statement: string): WatchRuleViolation => {
    const fix: ReplicationStopCauseFix = { run_on: 'source', statement };
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

function lostAttributes(before: WatchedRole, after: WatchedRole): readonly string[] {
  return [
    ...(before.superuser && !after.superuser ? ['SUPERUSER'] : []),
    ...(before.replication && !after.replication ? ['REPLICATION'] : []),
    ...(before.login && !after.login ? ['LOGIN'] : []),
  ];
}

function isSameTimeout(one: StoredTimeoutSetting, other: StoredTimeoutSetting): boolean {
  return one.setting === other.setting && one.isOfRole === other.isOfRole && one.database === other.database;
}

function describeOwner(role: string, { isOfRole, database }: StoredTimeoutSetting): string {
  if (!isOfRole) return `the database ${database ?? 'of the role'}`;
  return database === undefined ? `the role ${role}` : `the role ${role} in the database ${database}`;
}

/**
 * Returns the statement that removes a timeout from the role, from the database, or from the role in that database, wherever
 * the timeout is stored.
 */
function resetSetting(role: string, { setting, isOfRole, database }: StoredTimeoutSetting): string {
  const [name = ''] = setting.split('=');
  const where = [
    ...(isOfRole ? [`ROLE ${quoteServerReportedName(role)}`] : []),
    ...(database === undefined ? [] : [`DATABASE ${quoteServerReportedName(database)}`]),
  ].join(' IN ');
  return where !== '' && /^[a-z_]+$/.test(name)
    ? `ALTER ${where} RESET ${name};`
    : `SELECT * FROM pg_db_role_setting WHERE ${quoteLiteral(setting)} = ANY (setconfig);`;
}
