import { appendFileSync } from 'node:fs';
import type { BatchSetup } from './batch-setup.ts';

/** How one schedule ended, counted at the server. */
export interface ScheduleRow {
  readonly schedule: string;
  readonly seed: number;
  readonly names: number;
  /** Names that two or more droplets have. */
  readonly duplicates: number;
  /** Names that no droplet has. */
  readonly missing: number;
  readonly unknown: number;
  readonly runs: number;
}

/** Whether `npm run test:batch` runs the tests, with more names each. */
export const isFullRun = process.env.CLOUDCTL_TEST_SCHEDULES !== undefined;

export const scheduleSeeds: readonly number[] = Array.from(
  { length: Number(process.env.CLOUDCTL_TEST_SCHEDULES ?? 1) },
  (_, at) => at + 1,
);

/** Adds the row to the table that `npm run test:batch` prints at its end. */
export function recordSchedule(
  setup: Pick<BatchSetup, 'counts'>,
  names: readonly string[],
  {
    schedule,
    seed,
    runs,
    unknown = 0,
  }: Pick<ScheduleRow, 'schedule' | 'seed' | 'runs'> & { readonly unknown?: number },
): ScheduleRow {
  const counts = setup.counts(names);
  const row: ScheduleRow = {
    schedule,
    seed,
    names: names.length,
    duplicates: counts.filter((count) => count > 1).length,
    missing: counts.filter((count) => count === 0).length,
    unknown,
    runs,
  };
  const path = process.env.CLOUDCTL_TEST_SCHEDULE_TABLE;
  if (path !== undefined) appendFileSync(path, `${JSON.stringify(row)}\n`);
  return row;
}
