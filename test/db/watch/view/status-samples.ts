import type { DatabaseSample, StatusSample } from '../../../../src/db/watch/sample.ts';

export function makeStatusSample(more: Partial<StatusSample> = {}): StatusSample {
  return {
    at: '2026-11-20T12:00:00.000Z',
    phase: 'copying',
    percent: 45,
    bytes_done: 500 * 1024 ** 2,
    bytes_total: 1000 * 1024 ** 2,
    lag_bytes: 2048,
    eta_seconds: 90,
    deadline: '2026-12-04T12:00:00Z',
    deadline_from: 'migrate',
    identified_by: { grade: 'proven', by: 'the migration id in its name' },
    databases: [makeDatabaseSample()],
    violations: [],
    ...more,
  };
}

export function makeDatabaseSample(more: Partial<DatabaseSample> = {}): DatabaseSample {
  const table = { bytes_total: 1024 ** 2, rows_total: 2000 };
  return {
    name: 'shop',
    phase: 'copying',
    percent: 45,
    bytes_done: 1,
    bytes_total: 2,
    lag_bytes: 0,
    slot: 's',
    tables: [
      { ...table, name: 'public.orders', state: 'copying', bytes_done: 524_288, rows_done: 1000 },
      { ...table, name: 'public.later', state: 'waiting', bytes_done: 0, rows_done: 0 },
      { ...table, name: 'public.small', state: 'done', bytes_done: 1024 ** 2, rows_done: 2000 },
    ],
    ...more,
  };
}

export const exampleViolation = {
  rule: 'wal-level-changed',
  observed: 'wal_level will change to replica at the next restart',
  hint: 'DO NOT RESTART THE SOURCE: the server does not start',
  database: 'shop',
};
