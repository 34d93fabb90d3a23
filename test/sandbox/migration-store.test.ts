import { describe, expect, it } from 'vitest';
import { MigrationStore, migrationStatusAt } from '../../src/sandbox/migration-store.ts';
import type { Migration } from '../../src/sandbox/records.ts';
import { createTable } from '../../src/sandbox/state/tables.ts';

const DAY = 86_400_000;
const source = { host: 'db.example.com', disableSsl: false, ignoreDbs: [] };
const migration = (id: string, startedAt: number): Migration => ({ id, cluster: 'c', source, startedAt });

/** A store whose clock the test sets. */
function setup() {
  const clock = { now: 0 };
  const table = createTable<Migration>({ keyOf: ({ id }) => id, rows: [], onChange: () => {} });
  const all = new MigrationStore(table, () => clock.now);
  const latest = (): Migration => {
    const found = all.latest('c');
    if (found === undefined) throw new Error('there is none');
    return found;
  };
  return { all, clock, latest };
}

describe('an online migration', () => {
  it('runs for two weeks, and then stops automatically', () => {
    const one = migration('a', 1_000);
    expect(migrationStatusAt(one, 1_000 + 14 * DAY - 1)).toEqual({ status: 'running' });
    expect(migrationStatusAt(one, 1_000 + 14 * DAY)).toEqual({
      status: 'canceled',
      stop: { at: 1_000 + 14 * DAY, reason: 'max_duration' },
    });
  });

  it('that was stopped reports when, and stays stopped', () => {
    const { all, clock, latest } = setup();
    all.add(migration('a', 0));
    for (const now of [5_000, 9_000]) {
      clock.now = now;
      all.stop(latest());
    }
    clock.now = 20 * DAY;
    expect(all.status(latest())).toEqual({ status: 'canceled', stop: { at: 5_000, reason: 'stopped_by_user' } });
  });

  it('cannot be stopped after its two weeks', () => {
    const { all, clock, latest } = setup();
    all.add(migration('a', 0));
    clock.now = 15 * DAY;
    all.stop(latest());
    expect(all.status(latest()).stop?.reason).toBe('max_duration');
  });

  it('excludes a second migration from its cluster while it runs', () => {
    const { all } = setup();
    expect(all.add(migration('a', 0))).toBeDefined();
    expect(all.add(migration('b', 14 * DAY - 1))).toBeUndefined();
    expect(all.add(migration('c', 14 * DAY))?.id).toBe('c');
  });
});
