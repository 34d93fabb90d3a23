import { afterAll, beforeAll, expect, it } from 'vitest';
import { DatabaseError } from '../../src/platform/connect-error.ts';
import { openSharedStore } from '../../src/shared-store/open-shared-store.ts';
import { buildShareSchemaSql } from '../../src/shared-store/postgresql-schema.ts';
import { parseSharedStoreUrl } from '../../src/shared-store/store-url.ts';
import { type Postgres, startPostgres } from '../fixtures/postgres.ts';
import { eventually } from '../fixtures/redis.ts';

const session = { epoch: 1, sid: 'aa', gen: 1 };
const sealed = { ...session, kid: 'k', record: 'r', by: 'a', event: 'login' } as const;

let server: Postgres;
beforeAll(async () => {
  server = await startPostgres();
  await server.query(buildShareSchemaSql());
});
afterAll(() => server?.stop());

it('a row that another transaction holds: a statement ends after 5 s, also when it is repeated, and a later one works', async () => {
  const address = parseSharedStoreUrl(
    `postgres://postgres:${server.password}@127.0.0.1:${server.port}/postgres`,
    () => undefined,
  );
  const store = await openSharedStore(address, { share: '0123456789abcdef', profile: 'default' });
  await store.run({ op: 'commit', ...sealed });
  const holder = server
    .query('BEGIN; SELECT FROM cloudctl_share.session FOR UPDATE; SELECT pg_sleep(60)')
    .catch(() => undefined);
  await new Promise((resolve) => setTimeout(resolve, 500));
  const started = performance.now();
  // A read does not wait for the lock.
  expect((await store.run({ op: 'read' })).row).toMatchObject({ gen: 1, holder: undefined });
  const claim = { op: 'claim', by: 'b', attempt: '1', leaseMs: 1_000, ...session } as const;
  const failure = await store.run(claim).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(DatabaseError);
  expect((performance.now() - started) / 1000).toBeGreaterThan(4);
  expect((performance.now() - started) / 1000).toBeLessThan(20);
  // The program and the server measure the 5 s separately: the server may need a moment more.
  await eventually(async () => {
    const [waiting] = await server.query(
      "SELECT count(*)::int AS count FROM pg_stat_activity WHERE wait_event_type = 'Lock'",
    );
    return waiting?.count === 0;
  }, 'the end of the statement');
  await server.query(
    "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND query LIKE '%pg_sleep%'",
  );
  await holder;
  expect(await store.run(claim)).toMatchObject({ applied: true, row: { holder: 'b' } });
  // The statement that was ended has changed nothing, and no transaction is left open.
  expect(await store.readLog(10)).toHaveLength(2);
  const open = await server.query(
    "SELECT count(*)::int AS count FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'",
  );
  expect(open).toEqual([{ count: 0 }]);
  await store.close();
}, 60_000);
