import pg from 'pg';
import type { PostgresqlRow } from '../../../../src/postgresql/rows.ts';
import type { Postgres } from '../../../fixtures/postgres.ts';

/** What one question answers, every value as the server wrote it, in a transaction that cannot write. */
export async function queryRows(
  server: Postgres,
  database: string,
  sql: string,
  role?: string,
): Promise<readonly PostgresqlRow[]> {
  const client = new pg.Client({ host: server.folder, port: server.port, user: 'postgres', database });
  await client.connect();
  try {
    await client.query('BEGIN READ ONLY; SET LOCAL search_path = pg_catalog');
    if (role !== undefined) await client.query(`SET LOCAL ROLE ${role}`);
    const { rows } = await client.query({ text: sql, types: { getTypeParser: () => (value: string) => value } });
    return rows;
  } finally {
    await client.end();
  }
}
