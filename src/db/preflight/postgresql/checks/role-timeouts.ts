import { formatDuration } from '../../../../base/text.ts';
import { failOutcome, passOutcome, warnOutcome } from '../../finding.ts';
import { declareServerCheck } from '../check.ts';
import { migrationRoleQuery, roleSettingsQuery } from '../queries/roles.ts';
import { settingsQuery } from '../queries/settings.ts';
import { combineFixes, describeSetting, effectiveSettings, parseDuration, roleSettingFix } from '../settings.ts';
import { type PostgresqlFacts, workerCopyRate } from '../source-facts.ts';

const timeouts = [
  'statement_timeout',
  'transaction_timeout',
  'idle_session_timeout',
  'idle_in_transaction_session_timeout',
  'lock_timeout',
] as const;

/** The timeouts that cancel a running copy; other timeouts end only an idle or waiting connection. */
const endsCopies: readonly string[] = ['statement_timeout', 'transaction_timeout'];

export const roleTimeoutsCheck = declareServerCheck({
  id: 'role-timeouts',
  title: 'no timeout of the role cancels the initial copy',
  headline: 'A timeout of the role can cancel the initial copy',
  severity: { continuous: 'blocker' },
  queries: { settings: settingsQuery, roleSettings: roleSettingsQuery, role: migrationRoleQuery },
  evaluate({ settings, roleSettings, role }, facts) {
    const found = timeouts.flatMap((name) =>
      effectiveSettings(name, settings, roleSettings, facts).flatMap((one) => {
        const span = parseDuration(one.value, 'ms') ?? 0;
        return span > 0
          ? [{ ...one, name, span, needed: Math.max(copySpan(facts, one.database), minimumSpan[name] ?? 0) }]
          : [];
      }),
    );
    if (found.length === 0) return passOutcome('none');
    const short = found.filter(({ name, span, needed }) => endsCopies.includes(name) && span < needed);
    const observed = timeouts
      .filter((name) => found.some((one) => one.name === name))
      .map(
        (name) =>
          `${name} ${formatDuration(Math.min(...found.filter((one) => one.name === name).map(({ span }) => span)))}`,
      )
      .join(', ');
    const fixes = timeouts.map((name) => ({ name, set: found.filter((one) => one.name === name) }));
    const more = {
      required: 'none',
      objects: found.slice(0, 20).map((one) => `${one.name} ${describeSetting(one)}`),
      fix: combineFixes(
        fixes.filter(({ set }) => set.length > 0).map(({ name, set }) => roleSettingFix(name, '0', set, role)),
        `After this change, new sessions of ${role.name} have no such timeout. pg_dump sets these timeouts to 0 itself.`,
      ),
    };
    if (short.length === 0) {
      return warnOutcome(observed, {
        ...more,
        detail: `The initial copy of each table is a statement of the role. A copy that takes longer than the timeout is cancelled with "canceling statement due to statement timeout" or "terminating connection due to transaction timeout" and starts again. At ${workerCopyRate.slow / 1e6} MB/s the largest table finishes in time.`,
      });
    }
    const [worst] = short.toSorted((a, b) => b.needed - a.needed);
    return failOutcome(['continuous'], observed, {
      ...more,
      detail: `The largest table of ${worst!.database} takes about ${formatDuration(worst!.needed)} at ${workerCopyRate.slow / 1e6} MB/s; ${worst!.name} cancels the copy after ${formatDuration(worst!.span)}: "${errorMessages[worst!.name]}". The copy is retried endlessly.`,
      only: [...new Set(short.map(({ database }) => database))],
    });
  },
});

const errorMessages: Readonly<Record<string, string>> = {
  statement_timeout: 'canceling statement due to statement timeout',
  transaction_timeout: 'terminating connection due to transaction timeout',
};

/**
 * Milliseconds for the copy of an empty table, whose transaction first creates a replication slot and queries the
 * columns.
 */
const minimumSpan: Readonly<Record<string, number>> = { transaction_timeout: 10 };

/**
 * Estimated milliseconds to copy the largest table of a database; if table sizes are unknown, the database counts as
 * one table.
 */
function copySpan({ copy }: PostgresqlFacts, database: string): number {
  const found = copy?.perDatabase.get(database);
  return ((found?.largest?.bytes ?? found?.bytes ?? 0) / workerCopyRate.slow) * 1000;
}
