import { expect, test } from 'vitest';
import { memoryJournal } from '../../../src/db/engine/journal.ts';
import { connectPostgresql, type PostgresqlSession } from '../../../src/postgresql/connection.ts';
import { QueryError } from '../../../src/postgresql/query-error.ts';
import { useServerPair } from '../../db/engine/server-pair.ts';
import {
  beginMigration,
  objectsOn,
  ownersOn,
  subscriptionsOn,
  testEngineDependencies,
  waitForState,
} from '../../db/engine/servers.ts';

/** Every so many statements one fails; `npm run test:engine -- --full` takes every single one. */
const stride = Number(process.env.CLOUDCTL_TEST_STRIDE ?? 8);

const servers = useServerPair();

/** Every session counts its statements together with the others, and the nth of them fails. */
function failingAt(nth: number, how: 'refused' | 'cut') {
  let count = 0;
  const failing = async (...[endpoint, options]: Parameters<typeof connectPostgresql>): Promise<PostgresqlSession> => {
    const session = await connectPostgresql(endpoint, options);
    return {
      ...session,
      async query(text, limit) {
        count += 1;
        if (count !== nth) return session.query(text, limit);
        if (how === 'refused') throw new QueryError('XX000', 'it fails on purpose', false);
        // The server goes on with a statement whose sender has gone.
        const sent = session.query(text, limit).catch(() => {});
        await session.end();
        await sent;
        throw new QueryError('ECONNRESET', 'it was cut on purpose', true);
      },
    };
  };
  return { connect: failing, reached: () => count >= nth };
}

test.each(['refused', 'cut'] as const)(
  'whatever statement is %s, nothing is left on the source and no subscription on the target',
  async (how) => {
    const { source, target, fresh, job } = servers();
    const endings = new Map<string, number>();
    for (let nth = how === 'cut' ? Math.ceil(stride / 2) : 1; ; nth += stride) {
      await fresh('d', 'CREATE TABLE t (id int PRIMARY KEY); INSERT INTO t SELECT generate_series(1, 10)');
      const failing = failingAt(nth, how);
      const journal = memoryJournal();
      const migration = beginMigration(
        await job(['d']),
        testEngineDependencies({ connectPostgres: failing.connect, journal }),
      );
      await waitForState(migration, ({ status }) => status !== 'running').catch(() => {});
      const atFirst = migration.state().status;
      expect([nth, await migration.stop()]).toEqual([nth, []]);
      expect([nth, await objectsOn(source)]).toEqual([nth, []]);
      expect([nth, await subscriptionsOn(target)]).toEqual([nth, []]);
      expect([nth, await ownersOn(target)]).toEqual([nth, []]);
      expect([nth, journal.pending()]).toEqual([nth, []]);
      endings.set(atFirst, (endings.get(atFirst) ?? 0) + 1);
      if (!failing.reached()) break;
    }
    expect(endings.get('error') ?? 0).toBeGreaterThan(10 / stride);
    expect(endings.get('syncing') ?? 0).toBeGreaterThan(5 / stride);
  },
  300_000,
);
