import { expect, test } from 'vitest';
import { connectPostgresql } from '../../src/postgresql/connection.ts';
import { makeSessionSafe } from '../../src/postgresql/search-path-safe-session.ts';
import { startPostgres } from '../fixtures/postgres.ts';
import { sourceOf } from './source-of.ts';

test('a row of 200 MB is copied in parts, and is too large as a whole', async () => {
  const server = await startPostgres({ direct: true, version: 17 });
  await server.query(
    "CREATE TABLE t (v text); ALTER TABLE t ALTER v SET STORAGE EXTERNAL; INSERT INTO t SELECT repeat('x', 200000000); INSERT INTO t VALUES ('small')",
  );
  await server.query('CREATE TABLE u (v text)');
  const options = { dbname: 'postgres', limit: 5000 };
  const source = { ...sourceOf(server), ssl: 'disable' } as const;
  const open = async () => makeSessionSafe(await connectPostgresql(source, options));
  const [from, to] = [await open(), await open()];
  const sink = await to.copyIn('COPY public.u FROM STDIN');
  let largest = 0;
  const rows = await from.copyOut(
    'COPY public.t TO STDOUT',
    (bytes) => {
      largest = Math.max(largest, bytes.length);
      return sink.write(bytes);
    },
    'parts',
  );
  expect([rows, await sink.finish()]).toEqual([2, 2]);
  expect(largest).toBeLessThan(1_000_000);
  const [[found] = []] = await to.query('SELECT count(*), sum(length(v)) FROM public.u');
  expect(found).toEqual({ count: '2', sum: '200000005' });
  // The statement may have been replaced on the way, or the server does not speak of a COPY at all.
  await expect(to.copyIn('SELECT 1')).rejects.toMatchObject({ name: 'QueryError' });
  await to.end();
  await expect(from.copyOut('COPY public.t TO STDOUT', () => undefined)).rejects.toMatchObject({ lost: true });
  await from.end();
}, 60_000);
