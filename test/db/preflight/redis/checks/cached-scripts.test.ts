import { expect, test } from 'vitest';
import { cachedScriptsCheck } from '../../../../../src/db/preflight/redis/checks/cached-scripts.ts';
import { lacks } from '../../../../fixtures/needs.ts';
import { startRedis } from '../../../../fixtures/redis.ts';
import { checkCases, denied } from '../check-cases.ts';
import { preflight } from '../real.ts';
import { healthy } from '../recordings.ts';

const cached = (calls: string) =>
  healthy({ info: { number_of_cached_scripts: '3' }, more: { replies: { 'INFO commandstats': calls } } });

checkCases(cachedScriptsCheck, {
  none: { status: 'pass' },
  'scripts that were loaded': { server: cached('cmdstat_script|load:calls=3,usec=1'), status: 'warn' },
  'scripts that were called by their digest': { server: cached('cmdstat_evalsha:calls=7,usec=1'), status: 'warn' },
  'scripts that clients send each time': { server: cached('cmdstat_eval:calls=7,usec=1'), status: 'info' },
  'counters that are denied': { server: cached(`-${denied} 'info|commandstats'`), status: 'warn' },
});

test.skipIf(lacks('redis-server', 'redis-cli')).each(['redis', 'valkey'] as const)(
  'scripts of a real %s are found, and not those that are gone',
  async (program) => {
    const source = await startRedis({ program });
    try {
      expect((await preflight(source)).finding('cached-scripts').status).toBe('pass');
      source.cli('script', 'load', 'return 1');
      const { report, finding } = await preflight(source);
      expect(finding('cached-scripts').status).toBe('warn');
      expect(report.data_loss).toHaveLength(1);
      expect(report).toMatchObject({ verdict: 'continuous', ok: true });
      source.cli('script', 'flush');
      expect((await preflight(source)).finding('cached-scripts').status).toBe('pass');
    } finally {
      await source.stop();
    }
  },
);
