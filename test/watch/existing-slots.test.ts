import { expect, it, onTestFinished, vi } from 'vitest';
import { listExistingSlots } from '../../src/watch/existing-slots.ts';
import { ready, startPostgres } from '../fixtures/postgres.ts';
import { freePort, startRedis } from '../fixtures/redis.ts';
import { watchedPostgres, watchedRedis } from './run-watch.ts';

vi.setConfig({ testTimeout: 60_000 });

it('slots that exist before the start are listed', async () => {
  const server = await startPostgres({ version: 16, settings: ready });
  await server.query("SELECT pg_create_logical_replication_slot('cdc', 'pgoutput')");
  expect(await listExistingSlots(watchedPostgres(server, 'postgres'), 5000)).toEqual(['cdc']);
});

it('replicas that exist before the start are listed', async () => {
  const [source, replica] = await Promise.all([startRedis(), startRedis()]);
  onTestFinished(async () => void (await Promise.all([source.stop(), replica.stop()])));
  expect(await listExistingSlots(watchedRedis(source), 5000)).toEqual([]);
  replica.cli('REPLICAOF', source.host, String(source.port));
  await expect.poll(() => listExistingSlots(watchedRedis(source), 5000)).toEqual([`127.0.0.1:${replica.port}`]);
});

it('an unreachable source does not prevent the start', async () => {
  const port = await freePort();
  const source = {
    host: '127.0.0.1',
    port,
    username: undefined,
    password: undefined,
    db: undefined,
    ssl: 'disable',
  } as const;
  expect(await listExistingSlots({ engine: 'redis', source }, 1000)).toBeUndefined();
});
