import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stateSql } from '../../../../src/db/cutover/postgresql/database-state.ts';
import { type Postgres, startPostgres } from '../../../fixtures/postgres.ts';

describe.each([14, 18] as const)('owners of what is not analyzed, on PostgreSQL %i', (version) => {
  let server: Postgres;
  beforeAll(async () => {
    const owners = ['postgres', 'deputy', 'owner', 'mine', 'pg_monitor'];
    server = await startPostgres({
      version,
      setup: [
        'CREATE ROLE keeper LOGIN',
        'CREATE ROLE owner',
        'CREATE ROLE mine',
        'GRANT mine TO keeper',
        'CREATE ROLE deputy',
        'GRANT postgres TO deputy',
        ...owners.flatMap((owner) => [
          `CREATE TABLE of_${owner} AS SELECT 1 AS one`,
          `ALTER TABLE of_${owner} OWNER TO ${owner}`,
        ]),
      ],
    });
  }, 120_000);
  afterAll(() => server?.stop());

  test('a role of users can be granted; a superuser, its member and a role of the server are left to a superuser', async () => {
    await server.query('ALTER ROLE postgres IN DATABASE postgres SET role = keeper');
    const rows = await server.query<{ name: string; owner: string | null; kept: string | null }>(
      stateSql(version * 10_000),
    );
    const found = Object.fromEntries(
      rows.filter(({ name }) => name.startsWith('public.of_')).map((row) => [row.name, row]),
    );
    expect(found['public.of_owner']).toMatchObject({ owner: 'owner', kept: null });
    expect(found['public.of_mine']).toMatchObject({ owner: null, kept: null });
    for (const kept of ['postgres', 'deputy', 'pg_monitor'])
      expect(found[`public.of_${kept}`]).toMatchObject({ owner: null, kept });
  });
});
