import { expect, test } from 'vitest';
import type { PreflightReport } from '../../../../src/db/preflight/report.ts';
import { dbTestHost } from '../../../commands/db/test-source.ts';
import { runCloudctl } from '../../../commands/run-cloudctl.ts';
import { startRedis } from '../../../fixtures/redis.ts';

test('db preflight --target reads version, modules and memory of a Redis target', async () => {
  const [source, target] = await Promise.all([startRedis(), startRedis({ config: ['maxmemory 64mb'] })]);
  const run = async (url: string, ...more: readonly string[]) => {
    const words = ['db', 'preflight', '--source', `redis://127.0.0.1:${source.port}`, '--allow-private', '-o', 'json'];
    const ran = await runCloudctl(dbTestHost(), [...words, '--target', url, ...more]);
    return { ...ran, report: () => ran.json<PreflightReport>() };
  };
  const read = await run(`redis://127.0.0.1:${target.port}`);
  expect(read.report().target.version).toMatch(/^redis-7\./);
  expect(read.report().premises.map(({ id }) => id)).not.toContain('version-not-newer');
  expect(target.cli('DBSIZE')).toBe('0');
  expect(await run(`redis://127.0.0.1:${target.port}`, '--target-version', 'valkey-8')).toMatchObject({ code: 2 });
  expect(await run('postgres://u@127.0.0.1:1/d')).toMatchObject({ code: 2 });
}, 60_000);

test('db preflight --target reads how many databases the target has', async () => {
  const source = await startRedis({ config: ['databases 32'], setup: [['-n', '20', 'set', 'k', 'v']] });
  const status = async (databases: number) => {
    const target = await startRedis({ config: [`databases ${databases}`] });
    const words = ['db', 'preflight', '--source', `redis://127.0.0.1:${source.port}`, '--allow-private', '-o', 'json'];
    const ran = await runCloudctl(dbTestHost(), [...words, '--target', `redis://127.0.0.1:${target.port}`]);
    return ran.json<PreflightReport>().findings.find(({ id }) => id === 'databases-count')?.status;
  };
  expect([await status(64), await status(16)]).toEqual(['pass', 'fail']);
}, 60_000);
