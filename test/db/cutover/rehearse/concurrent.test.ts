import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../../../src/platform/waiting.ts';
import { runCloudctl, startCloudctl } from '../../../commands/run-cloudctl.ts';
import { type TestHost, testHost } from '../../../fixtures/host.ts';
import type { Postgres } from '../../../fixtures/postgres.ts';
import { objectsOn, startSource, startTarget, subscriptionsOn, waitUntil } from '../../engine/servers.ts';

let sources: readonly Postgres[];
let target: Postgres;

beforeAll(async () => {
  [target, ...sources] = await Promise.all([
    startTarget({ version: 17 }),
    startSource({ version: 14 }),
    startSource({ version: 14 }),
  ]);
  for (const source of sources) {
    await source.query('CREATE ROLE app');
    await source.query('CREATE DATABASE shop');
    await source.query('CREATE TABLE t (id int PRIMARY KEY); INSERT INTO t SELECT generate_series(1, 100)', 'shop');
  }
  // The copy of this table fails on the target, so the first rehearsal runs until it is interrupted.
  await sources[0]?.query(
    `CREATE FUNCTION old() RETURNS bool LANGUAGE sql AS $$ SELECT current_setting('server_version_num')::int < 150000 $$;
     CREATE TABLE picky (id int PRIMARY KEY, CHECK (public.old())); INSERT INTO picky VALUES (1)`,
    'shop',
  );
  await target.query('CREATE DATABASE shop');
});

afterAll(() => Promise.all([...sources, target].map((server) => server?.stop())));

/** A machine with its own state folder. */
function machine(): TestHost {
  return { ...testHost({ env: { PGPASSWORD: 'secret' } }), clock: { ...systemClock, advance: () => {} } };
}

const words = (source: Postgres | undefined) => [
  ...['db', 'rehearse', '--source', source?.url('shop') ?? '', '--disable-ssl', '--into', target.url()],
  ...['--accept', 'listen-addresses', '--yes', '-o', 'json'],
];

test('a rehearsal from another machine is busy while one runs, and removes nothing of it', async () => {
  const [first, second] = [machine(), machine()];
  const running = startCloudctl(first, words(sources[0]));
  const both = waitUntil(async () => (await subscriptionsOn(target)).length === 2, 'both subscriptions');
  await Promise.race([both, running.ended.then(({ err }) => expect.unreachable(err))]);
  const other = await runCloudctl(second, words(sources[1]));
  expect(other.error()).toMatchObject({
    code: 'busy',
    detail: expect.stringContaining(`cloudctl-rehearsal of 127.0.0.1:${sources[0]?.port}`),
  });
  expect(await subscriptionsOn(target)).toHaveLength(2);
  running.host.signal('SIGINT');
  expect((await running.ended).code).toBe(130);
  expect(await subscriptionsOn(target)).toEqual([]);
  const next = await runCloudctl(second, words(sources[1]));
  expect(next.code, next.err).toBe(0);
  // The database that existed is still there, and empty; roles, slots and copies are gone.
  expect(await target.query("SELECT relname FROM pg_class WHERE relname = 't'", 'shop')).toEqual([]);
  expect(await target.query('SELECT rolname FROM pg_roles WHERE oid >= 16384')).toEqual([]);
  for (const source of sources) expect(await objectsOn(source)).toEqual([]);
});
