import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { closedPort } from '../../../scripts/free-port.mjs';
import type { PreflightReport } from '../../../src/db/preflight/report.ts';
import { dbTestHost } from '../../commands/db/test-source.ts';
import { runCloudctl } from '../../commands/run-cloudctl.ts';
import { parseInventoryReport } from '../../fixtures/inventory-schema.ts';
import { startRedis } from '../../fixtures/redis.ts';

it('two names of a Redis server are one server with the verdict of its preflight', { timeout: 60_000 }, async () => {
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  redis.cli('SET', 'greeting', 'hello');
  const host = dbTestHost();
  const file = join(host.place.work, 'sources');
  const away = `redis://127.0.0.1:${await closedPort()}`;
  const lines = [`redis://127.0.0.1:${redis.port}`, `redis://localhost:${redis.port}`, away];
  writeFileSync(file, lines.join('\n'));
  const words = ['--allow-private', '--target-version', '8.0', '-o', 'json'];
  const ran = await runCloudctl(host, ['db', 'inventory', file, '--show-queries', ...words]);
  const { summary, sources, servers } = parseInventoryReport(ran.out);
  expect(summary).toMatchObject({ sources: 3, servers: 1, not_checked: 1 });
  expect(servers[0]?.also).toEqual([`localhost:${redis.port}`]);
  const alone = await runCloudctl(dbTestHost(), ['db', 'preflight', '--source', lines[1] ?? '', ...words]);
  const { verdict, ok, proven } = alone.json<PreflightReport>();
  for (const row of sources.slice(0, 2)) expect(row).toMatchObject({ verdict, ok, proven });
  // The keys are sampled once.
  expect(ran.err.match(/: SCAN /g)).toHaveLength(1);
});
