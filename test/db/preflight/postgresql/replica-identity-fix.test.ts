import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { replicaIdentityStatement } from '../../../../src/db/preflight/postgresql/replica-identity-fix.ts';
import { formatSingleLinePsqlStatement } from '../../../../src/postgresql/psql-script.ts';
import { type Postgres, startPostgres } from '../../../fixtures/postgres.ts';

describe.each([14, 18] as const)('REPLICA IDENTITY USING INDEX on PostgreSQL %i', (version) => {
  let server: Postgres;

  beforeAll(async () => {
    server = await startPostgres({
      version,
      setup: [
        'CREATE ROLE bob LOGIN',
        'CREATE SCHEMA bob AUTHORIZATION bob',
        'CREATE TABLE t (id int NOT NULL)',
        'CREATE UNIQUE INDEX i ON t (id)',
        'CREATE TABLE bob.t (id int NOT NULL)',
        'CREATE UNIQUE INDEX i ON bob.t (id)',
        'CREATE TABLE bob.mine (id int NOT NULL)',
        'ALTER TABLE bob.mine OWNER TO bob',
        // The index was exchanged after the preflight: planning its predicate runs the function.
        `CREATE FUNCTION bob.f(text) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT 1'`,
        "CREATE UNIQUE INDEX i2 ON bob.mine (id) WHERE bob.f('x') > 0",
        `CREATE OR REPLACE FUNCTION bob.f(text) RETURNS int IMMUTABLE LANGUAGE plpgsql AS
         $$BEGIN RAISE LOG 'CANARY %', current_user; RETURN 1; END$$`,
      ],
    });
  }, 120_000);
  afterAll(() => server?.stop());

  const statement = (name: string, index: string) =>
    formatSingleLinePsqlStatement(
      replicaIdentityStatement({ name } as Parameters<typeof replicaIdentityStatement>[0], `USING INDEX "${index}"`),
    ) ?? '';
  const identities = async () =>
    Object.fromEntries(
      (
        await server.query<{ name: string; is: string }>(
          "SELECT oid::regclass::text AS name, relreplident AS is FROM pg_class WHERE relkind = 'r' AND oid >= 16384",
        )
      ).map((row) => [row.name, row.is]),
    );

  test('a superuser changes only tables that nobody else can exchange', async () => {
    for (const sql of [statement('public.t', 'i'), statement('bob.t', 'i'), statement('bob.mine', 'i2')]) {
      await server.query(sql);
    }
    expect(await identities()).toEqual({ t: 'i', 'bob.t': 'd', 'bob.mine': 'd' });
    expect(server.log()).not.toContain('CANARY');
    expect(server.log()).toContain('WARNING');
  });

  test('the owner changes the table', async () => {
    await server.query('CREATE UNIQUE INDEX i3 ON bob.mine (id)');
    await server.query(`SET ROLE bob; ${statement('bob.mine', 'i3')}`);
    expect(await identities()).toMatchObject({ 'bob.mine': 'i' });
  });
});
