import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectPostgresql, type PostgresqlSession } from '../../src/postgresql/connection.ts';
import { comparableTextSettings, readByCopy } from '../../src/postgresql/table-rows.ts';
import { postgresEndpointOf } from '../db/engine/servers.ts';
import { type Postgres, startPostgres } from '../fixtures/postgres.ts';

let server: Postgres;
let session: PostgresqlSession;
beforeAll(async () => {
  server = await startPostgres({
    version: 17,
    setup: [
      'CREATE TABLE t (a int, d timestamptz)',
      "INSERT INTO t VALUES (1, '2026-01-01 12:00:00+02'), (2, NULL)",
      "ALTER ROLE postgres SET timezone = 'Asia/Tokyo'",
      'CREATE TABLE large AS SELECT repeat(md5(g::text), 30) AS x FROM generate_series(1, 5000) g',
    ],
  });
  session = await connectPostgresql(postgresEndpointOf(server), { dbname: 'postgres', limit: 10_000 });
});
afterAll(async () => {
  await session?.end();
  await server?.stop();
});

const options = { version: 170_000, settings: comparableTextSettings(170_000, 170_000) };

test('rows are texts that do not depend on the settings of the role', async () => {
  const rows: string[] = [];
  const table = { schema: 'public', name: 't', columns: ['d', 'a'] };
  const error = await readByCopy(session, table, (row) => void rows.push(Buffer.from(row).toString()), options);
  expect(error).toBeUndefined();
  expect(rows).toEqual(['2026-01-01 10:00:00+00\t1\n', '\\N\t2\n']);
});

test('a table that cannot be read is an error, and the session goes on', async () => {
  const sent: string[] = [];
  const missing = { schema: 'public', name: 'gone', columns: [] };
  const error = await readByCopy(session, missing, () => {}, {
    ...options,
    onSend: (text) => void sent.push(text),
  });
  expect(error?.code).toBe('42P01');
  expect(sent).toHaveLength(1);
  let rows = 0;
  const visit = () => {
    rows += 1;
  };
  expect(await readByCopy(session, { ...missing, name: 't' }, visit, options)).toBeUndefined();
  expect(rows).toBe(2);
});

test('no more rows are read while the pace is pending, and a time limit ends the session', async () => {
  const table = { schema: 'public', name: 'large', columns: [] };
  const read = (more: object) => readByCopy(session, table, () => {}, { ...options, ...more });
  let bytes = 0;
  let pending = 0;
  let most = 0;
  const pace = (size: number) => {
    bytes += size;
    pending += 1;
    most = Math.max(most, pending);
    return new Promise<void>((resolve) =>
      setImmediate(() => {
        pending -= 1;
        resolve();
      }),
    );
  };
  expect(await read({ pace })).toBeUndefined();
  expect(bytes).toBe(5000 * 961);
  // Only rows that arrived together wait together.
  expect(most).toBeLessThan(500);
  await expect(read({ time: 200, pace: () => new Promise<void>(() => {}) })).rejects.toMatchObject({ lost: true });
});
