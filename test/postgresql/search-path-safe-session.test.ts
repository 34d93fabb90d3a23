import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectPostgresql } from '../../src/postgresql/connection.ts';
import type { PostgresqlEndpoint } from '../../src/postgresql/endpoint.ts';
import { makeSessionSafe } from '../../src/postgresql/search-path-safe-session.ts';
import { lacks } from '../fixtures/needs.ts';
import { startPgbouncer } from '../fixtures/pgbouncer.ts';
import { type Postgres, startPostgres } from '../fixtures/postgres.ts';
import { sourceOf } from './source-of.ts';

let server: Postgres;
let source: PostgresqlEndpoint;
const options = { dbname: 'postgres', limit: 5000 };

beforeAll(async () => {
  server = await startPostgres();
  source = { ...sourceOf(server), ssl: 'disable' };
  await server.query('CREATE ROLE low');
  await server.query(`ALTER DATABASE postgres SET search_path = public, pg_catalog; ALTER DATABASE postgres SET role = low;
    ALTER DATABASE postgres SET default_transaction_read_only = on; ALTER DATABASE postgres SET default_transaction_deferrable = on;
    ALTER DATABASE postgres SET default_transaction_isolation = 'serializable'`);
});

afterAll(() => server?.stop());

test('no stored setting is in force in a pinned session', async () => {
  const session = await makeSessionSafe(await connectPostgresql(source, options));
  const [[row] = []] = await session.query(`SELECT current_user AS role, current_setting('search_path') AS path,
    current_setting('transaction_isolation') AS isolation, current_setting('transaction_deferrable') AS deferrable,
    current_setting('transaction_read_only') AS read_only`);
  await session.end();
  expect(row).toEqual({
    role: 'postgres',
    path: 'pg_catalog, pg_temp',
    isolation: 'read committed',
    deferrable: 'off',
    read_only: 'off',
  });
});

describe.skipIf(lacks('pgbouncer'))('behind pgbouncer', () => {
  test.each(['transaction', 'session'] as const)(
    'in %s mode a session is refused, and no setting is left behind',
    async (mode) => {
      const { port } = await startPgbouncer({ server, mode });
      const session = await connectPostgresql({ ...source, port }, options);
      await expect(makeSessionSafe(session)).rejects.toMatchObject({ code: 'PROTOCOL', lost: false });
      await session.end();
    },
  );
});
