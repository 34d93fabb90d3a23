import { describe, expect, it } from 'vitest';
import {
  createMigrations,
  latestMigration,
  type Migrations,
  migrationFate,
  startMigration,
  stopMigration,
} from '../../src/sandbox/migrations.ts';
import type { Migration } from '../../src/sandbox/records.ts';
import { createTable } from '../../src/sandbox/state/table.ts';

const DAY = 86_400_000;
const source = { host: 'db.example.com', disableSsl: false, ignoreDbs: [] };
const migration = (id: string, startedAt: number): Migration => ({ id, cluster: 'c', source, startedAt });

const empty = (): Migrations => createMigrations(createTable<Migration>({ keyOf: ({ id }) => id }));
const latest = (all: Migrations): Migration => {
  const found = latestMigration(all, 'c');
  if (found === undefined) throw new Error('there is none');
  return found;
};

describe('an online migration', () => {
  it('runs until two weeks after its start, and then stops by itself', () => {
    const one = migration('a', 1_000);
    expect(migrationFate(one, 1_000 + 14 * DAY - 1)).toEqual({ status: 'running' });
    expect(migrationFate(one, 1_000 + 14 * DAY)).toEqual({
      status: 'canceled',
      stop: { at: 1_000 + 14 * DAY, reason: 'max_duration' },
    });
  });

  it('that was stopped tells when, and stays so', () => {
    const all = empty();
    const one = startMigration(all, migration('a', 0));
    if (one === undefined) throw new Error('not started');
    stopMigration(all, one, 5_000);
    stopMigration(all, one, 9_000);
    expect(migrationFate(latest(all), 20 * DAY)).toEqual({
      status: 'canceled',
      stop: { at: 5_000, reason: 'stopped_by_user' },
    });
  });

  it('cannot be stopped after its two weeks', () => {
    const all = empty();
    const one = startMigration(all, migration('a', 0));
    if (one === undefined) throw new Error('not started');
    stopMigration(all, one, 15 * DAY);
    expect(migrationFate(latest(all), 15 * DAY).stop?.reason).toBe('max_duration');
  });

  it('keeps a second one out of its cluster while it runs', () => {
    const all = empty();
    expect(startMigration(all, migration('a', 0))).toBeDefined();
    expect(startMigration(all, migration('b', 14 * DAY - 1))).toBeUndefined();
    expect(startMigration(all, migration('c', 14 * DAY))?.id).toBe('c');
  });
});
