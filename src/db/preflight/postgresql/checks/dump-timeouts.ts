import { formatDuration } from '../../../../base/text.ts';
import { failOutcome, passOutcome } from '../../finding.ts';
import { declareServerCheck } from '../check.ts';
import { migrationRoleQuery, roleSettingsQuery } from '../queries/roles.ts';
import { settingsQuery } from '../queries/settings.ts';
import { combineFixes, effectiveSettings, parseDuration, roleSettingFix } from '../settings.ts';

/** The timeouts that pg_dump sets to 0 first, but that can cancel even the statement that sets them. */
const ending = ['statement_timeout', 'transaction_timeout'] as const;

/** Milliseconds that the first statement of a new server process may take, because it loads the system catalogs. */
const firstStatement = 2;

export const dumpTimeoutsCheck = declareServerCheck({
  id: 'dump-timeouts',
  title: 'no timeout of the role cancels the first statement of a session',
  headline: 'A timeout of the role cancels the first statement of every session',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: { settings: settingsQuery, roleSettings: roleSettingsQuery, role: migrationRoleQuery },
  evaluate({ settings, roleSettings, role }, facts) {
    const found = ending.flatMap((name) =>
      effectiveSettings(name, settings, roleSettings, facts).flatMap((one) => {
        const span = parseDuration(one.value, 'ms') ?? 0;
        return span > 0 && span <= firstStatement ? [{ ...one, name, span }] : [];
      }),
    );
    if (found.length === 0) return passOutcome('none');
    const names = ending.filter((name) => found.some((one) => one.name === name));
    return failOutcome(
      ['continuous', 'dump'],
      names
        .map(
          (name) =>
            `${name} ${formatDuration(Math.min(...found.filter((o) => o.name === name).map(({ span }) => span)))}`,
        )
        .join(', '),
      {
        required: `more than ${firstStatement} ms, or 0`,
        detail:
          'In a new session even the statement that sets the timeout to 0 takes longer than the timeout: "canceling statement due to statement timeout" or "terminating connection due to transaction timeout". Neither replication nor a dump can read data.',
        only: [...new Set(found.map(({ database }) => database))],
        fix: combineFixes(
          names.map((name) =>
            roleSettingFix(
              name,
              '0',
              found.filter((one) => one.name === name),
              role,
            ),
          ),
          `After this change, new sessions of ${role.name} have no such timeout.`,
        ),
      },
    );
  },
});
