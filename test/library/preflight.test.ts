import { expect, it, onTestFinished } from 'vitest';
import { preflight } from '../../src/library/preflight.ts';
import { ready, startPostgres } from '../fixtures/postgres.ts';
import { startRedis } from '../fixtures/redis.ts';

it('a PostgreSQL source', async () => {
  const server = await startPostgres({ version: 17, settings: ready, setup: ['CREATE TABLE t (id int PRIMARY KEY)'] });
  onTestFinished(() => server.stop());
  const steps: number[] = [];
  const report = await preflight(server.url('postgres'), {
    password: server.password,
    targetVersion: '17',
    targetExtensions: ['plpgsql'],
    disableTls: true,
    allowPrivateAddress: true,
    onProgress: (done) => steps.push(done),
  });
  expect(report).toMatchObject({ verdict: 'continuous', ok: true, databases: [{ name: 'postgres' }] });
  expect(steps).toContain(1);
});

it('a Redis source', async () => {
  const server = await startRedis();
  onTestFinished(() => server.stop());
  const report = await preflight(`redis://127.0.0.1:${server.port}`, { disableTls: true, allowPrivateAddress: true });
  expect(report).toMatchObject({ engine: 'redis', source: { port: server.port } });
});
