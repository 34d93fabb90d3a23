import { afterAll, beforeAll, expect, test } from 'vitest';
import { Secret } from '../../../../src/base/secret.ts';
import {
  listTablesWithCopiedColumns,
  readSequenceStatesAsText,
  readTableContentDigests,
} from '../../../../src/db/cutover/postgresql/tables.ts';
import { dropDatabases, dropRoles } from '../../../../src/db/cutover/rehearse/clean-up.ts';
import { dropAddedObjects, listExisting, readObjectNames } from '../../../../src/db/cutover/rehearse/existing.ts';
import { connectPostgresql } from '../../../../src/postgresql/connection.ts';
import { makeSessionSafe, type SafeSession } from '../../../../src/postgresql/search-path-safe-session.ts';
import { type Postgres, startPostgres } from '../../../fixtures/postgres.ts';

let server: Postgres;

beforeAll(async () => {
  server = await startPostgres();
});

afterAll(() => server?.stop());

async function inside<T>(dbname: string, work: (session: SafeSession) => Promise<T>): Promise<T> {
  const { host, port } = server;
  const endpoint = { host, port, dbname, username: 'postgres', password: new Secret(server.password) } as const;
  const session = await makeSessionSafe(
    await connectPostgresql({ ...endpoint, ssl: 'disable' }, { dbname, limit: 10_000 }),
  );
  try {
    return await work(session);
  } finally {
    await session.end();
  }
}

test('a database that was filled is put back to what it was, extensions of its own included', async () => {
  await server.query('CREATE DATABASE bare');
  await server.query('CREATE EXTENSION hstore', 'bare');
  const before = await inside('bare', async (session) => {
    expect(await listExisting(session)).toEqual([]);
    return readObjectNames(session);
  });
  await server.query(
    `CREATE SCHEMA "Own"; CREATE TABLE "Own".t (id serial); CREATE TABLE base (id int PRIMARY KEY, h hstore);
     CREATE VIEW seen AS SELECT * FROM base; CREATE TYPE mood AS ENUM ('a'); CREATE DOMAIN d AS int;
     CREATE FUNCTION f(int) RETURNS int LANGUAGE sql AS 'SELECT 1'; CREATE MATERIALIZED VIEW m AS SELECT 1 AS one;
     CREATE PUBLICATION p FOR TABLE base; CREATE EXTENSION citext; SELECT lo_create(4711)`,
    'bare',
  );
  await inside('bare', async (session) => {
    expect(await listExisting(session)).toContain('table public.base');
    expect(await dropAddedObjects(session, before, [])).toEqual([]);
    expect(await readObjectNames(session)).toEqual(before);
  });
});

test('only what has the oid of what was made is dropped', async () => {
  for (const name of ['mine', 'theirs', 'doubtful']) await server.query(`CREATE DATABASE ${name}`);
  await server.query('CREATE ROLE "Role of mine"');
  const [oid] = await server.query("SELECT oid::text FROM pg_database WHERE datname = 'mine'");
  const [role] = await server.query("SELECT oid::text FROM pg_roles WHERE rolname = 'Role of mine'");
  await inside('postgres', async (session) => {
    const made = [{ name: 'mine', oid: String(oid?.oid) }, { name: 'theirs', oid: '1' }, { name: 'doubtful' }];
    expect(await dropDatabases(session, made, 180_000)).toMatchObject({
      dropped: ['mine', 'theirs'],
      leftovers: [],
      uncertain: [{ object: 'database doubtful', statement: 'DROP DATABASE "doubtful" WITH (FORCE)' }],
    });
    expect(await dropRoles(session, [{ name: 'Role of mine', oid: String(role?.oid) }])).toMatchObject({
      leftovers: [],
    });
  });
  const left = await server.query(
    "SELECT datname FROM pg_database WHERE datname IN ('mine', 'theirs', 'doubtful') ORDER BY 1",
  );
  expect(left.map(({ datname }) => datname)).toEqual(['doubtful', 'theirs']);
});

test('rows are counted where they are, and sequences tell whether they were given out', async () => {
  await server.query('CREATE DATABASE counted');
  await server.query(
    `CREATE TABLE part (id int, at int) PARTITION BY RANGE (at); CREATE TABLE part_1 PARTITION OF part FOR VALUES FROM (0) TO (9);
     INSERT INTO part VALUES (1, 1), (2, 2); CREATE UNLOGGED TABLE "odd name" (id serial)`,
    'counted',
  );
  await inside('counted', async (session) => {
    const tables = await listTablesWithCopiedColumns(session);
    expect(tables.map(({ name, isUnlogged }) => [name, isUnlogged])).toEqual([
      ['public.odd name', true],
      ['public.part_1', false],
    ]);
    const gone = {
      ...{
        name: 'public.gone',
        quoted: '"public"."gone"',
        isUnlogged: false,
        generated: [],
        canQuery: false,
        isSmall: false,
      },
      table: { schema: 'public', name: 'gone', columns: [] },
    };
    const onFailure = (name: string) => expect.unreachable(name);
    const contents = await readTableContentDigests(session, [...tables, gone], {
      limit: 10_000,
      oldest: 140_000,
      onFailure,
    });
    expect([...contents].map(([name, { rows }]) => [name, rows])).toEqual([
      ['public.odd name', 0],
      ['public.part_1', 2],
    ]);
    expect([...(await readSequenceStatesAsText(session)).keys()]).toEqual(['public.odd name_id_seq']);
    // A table that cannot be read in time counts as not read, not as empty.
    await inside('counted', async (locking) => {
      await locking.query('BEGIN; LOCK TABLE public.part_1 IN ACCESS EXCLUSIVE MODE');
      const reading = readTableContentDigests(session, tables, { limit: 500, oldest: 140_000, onFailure });
      await expect(reading).rejects.toMatchObject({ lost: true });
    });
  });
});
