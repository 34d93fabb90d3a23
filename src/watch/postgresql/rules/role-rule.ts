import { quoteLiteral } from '../../../postgresql/quote.ts';
import { quoteReportedObjectName } from '../../quote-reported-object-name.ts';
import type { StopCauseFix, WatchRuleViolation } from '../../status-sample.ts';
import type { MigrationWatchRule } from '../rule-input.ts';
import type { WatchedRole } from '../server-facts.ts';

/** Changes of the role of the source that prevent the next login of the target, or end its statements. */
export const roleChangeWatchRule: MigrationWatchRule = ({ now, first }) => {
  const [before, after] = [first.role, now.role];
  if (before === undefined || after === undefined || before.name !== after.name) return [];
  const quoted = quoteReportedObjectName(after.name);
  const violation = (rule: string, observed: string, hint: string, statement: string): WatchRuleViolation => {
    const fix: StopCauseFix = { run_on: 'source', statement };
    return { rule, object: after.name, observed, hint, fix };
  };
  const lost = lostAttributes(before, after);
  const timeouts = after.timeouts.filter((setting) => !before.timeouts.includes(setting));
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
    ...timeouts.map((setting) =>
      violation(
        'role-timeout',
        `the role ${after.name} has ${setting}`,
        'reset the setting: it ends the copy of a large table',
        resetSetting(after.name, setting),
      ),
    ),
    ...(isAltered
      ? [
          violation(
            'role-altered',
            `the role ${after.name} was altered`,
            'if the password was changed, set the one that was given to `db migrate`: the target still uses it',
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

/**
 * Returns the statement that removes a stored timeout of the role. The statement has no effect on a timeout that is
 * stored for a database, or for the role in one database.
 */
function resetSetting(role: string, setting: string): string {
  const [name = ''] = setting.split('=');
  return /^[a-z_]+$/.test(name)
    ? `ALTER ROLE ${quoteReportedObjectName(role)} RESET ${name};`
    : `SELECT * FROM pg_db_role_setting WHERE ${quoteLiteral(setting)} = ANY (setconfig);`;
}
