import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { dbTestHost } from '../commands/db/test-source.ts';
import { runCloudctl } from '../commands/run-cloudctl.ts';
import { parseInventoryReport } from '../fixtures/inventory-schema.ts';
import { type Postgres, startPostgres } from '../fixtures/postgres.ts';

let server: Postgres;
beforeAll(async () => {
  server = await startPostgres({ version: 17, direct: true });
  for (const name of ['a', 'b', 'c', 'd']) await server.query(`CREATE DATABASE ${name}`);
  return () => server.stop();
}, 60_000);

const address = (name: string) => `postgres://postgres@127.0.0.1:${server.port}/${name}?sslmode=disable`;

function machine(env: Readonly<Record<string, string>> = {}) {
  const queue = address('postgres').replace('postgres@', `postgres:${server.password}@`);
  const host = dbTestHost({ PGPASSWORD: server.password, CLOUDCTL_QUEUE_URL: queue, ...env });
  const file = join(host.place.work, 'sources');
  writeFileSync(file, ['a', 'b', 'c', 'd'].map(address).join('\n'));
  return { host, file };
}

const words = ['--allow-private', '--target-version', '18', '--scope', 'database', '--parallel', '1', '-o', 'json'];

it('machines share the sources, and each has the report of all', async () => {
  const [first, second] = [machine(), machine()];
  const filling = runCloudctl(first.host, ['db', 'preflight', '--queue', 'q1', '--sources', first.file, ...words]);
  while ((await server.query("SELECT to_regclass('cloudctl_inventory.source') AS found"))[0]?.found == null);
  const joined = await runCloudctl(second.host, ['db', 'preflight', '--queue', 'q1', '--parallel', '1', '-o', 'json']);
  const reports = [await filling, joined].map(({ out }) => parseInventoryReport(out));
  expect(reports[0]?.sources[0]?.size_bytes).toBeGreaterThan(1_000_000);
  const withoutTimes = reports.map(({ summary, fix_first, findings, sources }) => ({
    ...{ summary, fix_first, findings, sources },
  }));
  expect(withoutTimes[0]).toEqual(withoutTimes[1]);
  expect(reports[0]?.sources.map(({ line }) => line)).toEqual([1, 2, 3, 4]);
  expect(reports[0]?.sources.every(({ state }) => state === 'checked')).toBe(true);
  const [{ secrets } = { secrets: '' }] = await server.query<{ secrets: string }>(
    "SELECT string_agg(s::text, '') AS secrets FROM cloudctl_inventory.source s",
  );
  expect(secrets).not.toContain(server.password);
});

it('other sources or options under the same name are refused, and so is a name that nobody has filled', async () => {
  const { host, file } = machine();
  const run = (...more: readonly string[]) => runCloudctl(host, ['db', 'preflight', ...more, '-o', 'json']);
  expect((await run('--queue', 'q2', '--sources', file, '--allow-private')).code).toBe(3);
  expect((await run('--queue', 'q2', '--sources', file, '--allow-private', '--strict')).error()).toMatchObject({
    code: 'usage',
  });
  expect((await run('--queue', 'nobody')).error()).toMatchObject({ code: 'usage' });
  expect((await run('--queue', 'q2', '--target-version', '17')).error()).toMatchObject({ code: 'usage' });
});
