import pg from 'pg';
import { expect, test } from 'vitest';
import { invalidIndexCheck } from '../../../../src/preflight/postgresql/checks/invalid-index.ts';
import { type Postgres, ready, startPostgres } from '../../../fixtures/postgres.ts';
import { preflightOptions, sourceFacts } from '../facts.ts';
import { found, preflightServer } from '../preflight.ts';

async function session(server: Postgres): Promise<pg.Client> {
  const client = new pg.Client({ host: server.folder, port: server.port, user: 'postgres', database: 'postgres' });
  client.on('error', () => {});
  await client.connect();
  return client;
}

test('the index of a rebuild that runs is dropped by no cure, and that of one that broke off is', async () => {
  const server = await startPostgres({ version: 16, settings: ready });
  await server.query('CREATE TABLE t (a int, b int)');
  await server.query('CREATE INDEX i ON t (a)');
  const remains = () => server.query("SELECT relname FROM pg_class WHERE relname = 'i_ccnew'");
  const [writer, builder] = await Promise.all([session(server), session(server)]);
  try {
    await writer.query('BEGIN; INSERT INTO t VALUES (1, 1)');
    const built = builder.query('REINDEX INDEX CONCURRENTLY i').catch((error: unknown) => error);
    while ((await remains()).length === 0) await new Promise((resolve) => setTimeout(resolve, 50));
    const running = found(await preflightServer(server), 'invalid-index', 'postgres');
    expect(running).toMatchObject({ status: 'warn', objects: ['public.i_ccnew on public.t'] });
    expect(running.fix?.sql).toBeUndefined();
    // As if it had begun after the preflight.
    const index = { name: 'public.i_ccnew', table: 'public.t', unique: false, exclusion: false, busy: false };
    const cure =
      invalidIndexCheck.evaluate({ invalidIndexes: [index] }, 'postgres', sourceFacts(), preflightOptions()).fix
        ?.sql?.[0] ?? '';
    await server.query(cure);
    expect(await remains()).toHaveLength(1);

    await server.query("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query LIKE 'REINDEX%'");
    await built;
    await writer.query('COMMIT');
    const broken = found(await preflightServer(server), 'invalid-index', 'postgres');
    expect(broken.fix?.sql).toEqual([cure]);
    await server.query(cure);
    expect(await remains()).toEqual([]);
    await server.query(cure);
  } finally {
    await Promise.all([writer.end(), builder.end()]);
  }
  expect(found(await preflightServer(server), 'invalid-index', 'postgres').status).toBe('pass');
});
