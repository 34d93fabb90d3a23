import { formatDuration } from '../../base/text.ts';
import type { MigrationStatusSample, WatchRuleViolation } from './status-sample.ts';

const dayMs = 86_400_000;

/** Milliseconds after its start at which the service stops a migration (docs/service.md S9.8). */
export const migrationTimeLimit = 14 * dayMs;

/** Milliseconds after the start of a migration from which the watch reports the deadline as a violation. */
const warnAfter = 10 * dayMs;

export interface KnownMigrationStart {
  /** The start of the migration, in milliseconds since the epoch. */
  readonly startedAt: number;
  readonly from: Exclude<MigrationStatusSample['deadline_from'], 'unknown'>;
}

export function buildMigrationDeadlineFields(
  start: KnownMigrationStart | undefined,
): Pick<MigrationStatusSample, 'deadline' | 'deadline_from'> {
  if (start === undefined) return { deadline: null, deadline_from: 'unknown' };
  return {
    deadline: new Date(start.startedAt + migrationTimeLimit).toISOString().replace('.000Z', 'Z'),
    deadline_from: start.from,
  };
}

/**
 * Reports a deadline that has passed, is near, or comes before the estimated end of the migration.
 * @param now milliseconds since the epoch
 */
export function checkMigrationDeadline(
  start: KnownMigrationStart | undefined,
  now: number,
  etaSeconds: number | undefined,
): readonly WatchRuleViolation[] {
  if (start === undefined) return [];
  const left = start.startedAt + migrationTimeLimit - now;
  const suffix = start.from === 'migrate' ? '' : ', counted from the first poll that saw it';
  const hint = 'move the application to the target before the deadline, or stop the migration and start it again';
  if (left <= 0)
    return [{ rule: 'deadline', observed: `the migration has run for more than two weeks${suffix}`, hint }];
  if (etaSeconds !== undefined && etaSeconds * 1000 > left) {
    const needed = `${formatDuration(etaSeconds * 1000)} needed, ${formatDuration(left)} left`;
    return [
      {
        rule: 'deadline',
        observed: `at the current rate the migration does not end before the deadline: ${needed}${suffix}`,
        hint: 'lower the load on the source, leave out large tables, or migrate by dump',
      },
    ];
  }
  if (now - start.startedAt < warnAfter) return [];
  return [{ rule: 'deadline', observed: `the service stops the migration in ${formatDuration(left)}${suffix}`, hint }];
}
