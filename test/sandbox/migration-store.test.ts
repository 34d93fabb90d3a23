import { describe, expect, it } from 'vitest';
import {
  addSandboxMigrationUnlessOneRuns,
  createSandboxMigrationStore,
  findLatestSandboxMigrationOfCluster,
  getSandboxMigrationStatusAtTime,
  markSandboxMigrationStopped,
  type SandboxMigrationStore,
} from '../../src/sandbox/migration-store.ts';
import type { SandboxMigration } from '../../src/sandbox/records.ts';
import { createSandboxStateTable } from '../../src/sandbox/state/tables.ts';

const DAY = 86_400_000;
const source = { host: 'db.example.com', disableSsl: false, ignoreDbs: [] };
const migration = (id: string, startedAt: number): SandboxMigration => ({ id, cluster: 'c', source, startedAt });

const empty = (): SandboxMigrationStore =>
  createSandboxMigrationStore(
    createSandboxStateTable<SandboxMigration>({ keyOf: ({ id }) => id, rows: [], onChange: () => {} }),
  );
const latest = (all: SandboxMigrationStore): SandboxMigration => {
  const found = findLatestSandboxMigrationOfCluster(all, 'c');
  if (found === undefined) throw new Error('there is none');
  return found;
};

describe('an online migration', () => {
  it('runs for two weeks, and then stops automatically', () => {
    const one = migration('a', 1_000);
    expect(getSandboxMigrationStatusAtTime(one, 1_000 + 14 * DAY - 1)).toEqual({ status: 'running' });
    expect(getSandboxMigrationStatusAtTime(one, 1_000 + 14 * DAY)).toEqual({
      status: 'canceled',
      stop: { at: 1_000 + 14 * DAY, reason: 'max_duration' },
    });
  });

  it('that was stopped reports when, and stays stopped', () => {
    const all = empty();
    const one = addSandboxMigrationUnlessOneRuns(all, migration('a', 0));
    if (one === undefined) throw new Error('not started');
    markSandboxMigrationStopped(all, one, 5_000);
    markSandboxMigrationStopped(all, one, 9_000);
    expect(getSandboxMigrationStatusAtTime(latest(all), 20 * DAY)).toEqual({
      status: 'canceled',
      stop: { at: 5_000, reason: 'stopped_by_user' },
    });
  });

  it('cannot be stopped after its two weeks', () => {
    const all = empty();
    const one = addSandboxMigrationUnlessOneRuns(all, migration('a', 0));
    if (one === undefined) throw new Error('not started');
    markSandboxMigrationStopped(all, one, 15 * DAY);
    expect(getSandboxMigrationStatusAtTime(latest(all), 15 * DAY).stop?.reason).toBe('max_duration');
  });

  it('excludes a second migration from its cluster while it runs', () => {
    const all = empty();
    expect(addSandboxMigrationUnlessOneRuns(all, migration('a', 0))).toBeDefined();
    expect(addSandboxMigrationUnlessOneRuns(all, migration('b', 14 * DAY - 1))).toBeUndefined();
    expect(addSandboxMigrationUnlessOneRuns(all, migration('c', 14 * DAY))?.id).toBe('c');
  });
});
