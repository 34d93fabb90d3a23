import pg from 'pg';
import { expect, test } from 'vitest';
import { invalidIndexCheck } from '../../../../../src/db/preflight/postgresql/checks/invalid-index.ts';
import { type Postgres, ready, startPostgres } from '../../../../fixtures/postgres.ts';
import { forBothMethods, testDatabaseCases } from '../database-cases.ts';
import { expectText } from '../expect-text.ts';
import { connected, preflightOptions, sourceFacts } from '../facts.ts';
import { found, preflightServer } from '../preflight.ts';

async function session(server: Postgres): Promise<pg.Client> {
  const client = new pg.Client({ host: server.folder, port: server.port, user: 'postgres', database: 'postgres' });
  client.on('error', () => {});
  await client.connect();
  return client;
}

test('the index of a running rebuild is not dropped by the fix, that of a failed one is', async () => {
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

const index = { name: 'public.i', table: 'public.t', unique: false, exclusion: false, busy: false };

testDatabaseCases([
  { what: 'no invalid index', ...forBothMethods(invalidIndexCheck, { invalidIndexes: [] }), verdict: 'pass' },
  { what: 'an invalid index', ...forBothMethods(invalidIndexCheck, { invalidIndexes: [index] }), verdict: 'warn' },
]);

test('remains of a rebuild are dropped, every other index is rebuilt', () => {
  const invalidIndexes = [
    index,
    { ...index, name: 'public.i_ccnew1' },
    { ...index, name: 'public."I x_ccold"' },
    { ...index, name: 'public.e', exclusion: true },
  ];
  expect(invalidIndexCheck.evaluate({ invalidIndexes }, 'd1', sourceFacts(), preflightOptions()).fix?.sql).toEqual([
    'REINDEX INDEX CONCURRENTLY "public"."i"',
    expect.stringMatching(/^DO 'BEGIN SET LOCAL .*; IF EXISTS .* THEN DROP INDEX "public"\."i_ccnew1"; END IF; END'$/),
    expect.stringMatching(/^DO 'BEGIN SET LOCAL .*; IF EXISTS .* THEN DROP INDEX "public"\."I x_ccold"; END IF; END'$/),
    'REINDEX INDEX "public"."e"',
  ]);
  const old = sourceFacts({ connection: connected({ version: 110_022 }) });
  expect(invalidIndexCheck.evaluate({ invalidIndexes: [index] }, 'd1', old, preflightOptions()).fix?.sql).toEqual([
    'REINDEX INDEX "public"."i"',
  ]);
});

test('an index that is being built is not changed', () => {
  const invalidIndexes = [
    { ...index, busy: true },
    { ...index, name: 'public.i_ccnew', busy: true },
  ];
  const { fix } = invalidIndexCheck.evaluate({ invalidIndexes }, 'd1', sourceFacts(), preflightOptions());
  expect(fix?.sql).toBeUndefined();
  expectText(fix?.text);
});

test('a unique index is not rebuilt, because duplicates would end the script', () => {
  const invalidIndexes = [
    { ...index, name: 'public.u', unique: true },
    { ...index, name: 'public.u_ccnew', unique: true },
    index,
  ];
  const judged = (only: typeof invalidIndexes) =>
    invalidIndexCheck.evaluate({ invalidIndexes: only }, 'd1', sourceFacts(), preflightOptions());
  const { fix, detail } = judged(invalidIndexes);
  expect(fix?.sql).toEqual([
    expect.stringContaining('DROP INDEX "public"."u_ccnew"'),
    'REINDEX INDEX CONCURRENTLY "public"."i"',
  ]);
  expectText(fix?.text);
  expectText(detail);
  expect(judged(invalidIndexes.slice(0, 1)).fix?.sql).toBeUndefined();
  expect(judged([index]).fix?.text).not.toContain('unique');
});
