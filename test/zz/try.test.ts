import { preflightPostgresql } from '../../src/preflight/postgresql/run.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { Secret } from '../../src/secret.ts';
import { nearest } from '../../src/cli/suggest.ts';
import { proxyTo } from '../preflight/postgresql/proxy.ts';
import { wish as aWish } from '../preflight/postgresql/facts.ts';
import { test } from 'vitest';
const env = process.env;
test('try', async () => {
  const wish = aWish({ method: env.METHOD === 'dump' ? 'dump' : 'continuous', ignoreDbs: (env.IGNORE ?? '').split(',').filter(Boolean), disableSsl: true, asPublic: false });
  const t = Date.now();
  const modes = JSON.parse(env.MODES ?? '{}');
  const proxy = env.MODES ? await proxyTo(Number(env.PORT), (db) => modes[db] ?? 'pass') : undefined;
  const report = await preflightPostgresql({ source: { host: '127.0.0.1', port: proxy?.port ?? Number(env.PORT), dbname: env.DB ?? 'postgres', username: env.PGU ?? 'postgres', password: new Secret(env.PGP ?? 'pw'), ssl: 'disable' }, wish, clock: systemClock, nearest, walInterval: Number(env.WAL ?? 500), deadline: Number(env.DEADLINE ?? 60000),
    onProgress: env.PROG ? (d, n) => console.log(d, n) : () => {},
    onQuery: env.SHOW ? (db, text) => console.log('>>', db, text) : () => {} });
  const { findings, ...rest } = report;
  console.log(Date.now() - t, Math.round(process.memoryUsage().rss / 1e6), JSON.stringify(rest).slice(0, 3000));
  for (const f of findings) if (env.ALL || !['pass', 'info'].includes(f.status)) console.log(f.status.padEnd(8), f.id, f.database ?? '', '|', f.observed, '|', f.required ?? '', '|', f.detail ?? '', '|', JSON.stringify(f.fix ?? {}), f.only ?? '');
  await proxy?.close();
}, 120000);
