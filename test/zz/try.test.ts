import { preflightPostgresql } from '../../src/preflight/postgresql/run.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { Secret } from '../../src/secret.ts';
import { nearest } from '../../src/cli/suggest.ts';
import { test } from 'vitest';
const env = process.env;
test('try', async () => {
  const wish = { method: env.METHOD ?? 'continuous', targetVersion: undefined, targetExtensions: undefined, target: undefined, ignoreDbs: (env.IGNORE ?? '').split(',').filter(Boolean), disableSsl: true, asPublic: false, sourceDiskFree: undefined, accept: [], strict: false, probe: false, now: Date.now() };
  const t = Date.now();
  const report = await preflightPostgresql({ source: { host: '127.0.0.1', port: Number(env.PORT), dbname: env.DB ?? 'postgres', username: env.PGU ?? 'postgres', password: new Secret(env.PGP ?? 'pw'), ssl: 'disable' }, wish, clock: systemClock, nearest, walInterval: Number(env.WAL ?? 500), deadline: Number(env.DEADLINE ?? 60000),
    onQuery: env.SHOW ? (db, text) => console.log('>>', db, text) : undefined });
  const { findings, ...rest } = report;
  console.log(Date.now() - t, JSON.stringify(rest));
  for (const f of findings) if (env.ALL || f.status !== 'pass') console.log(f.status.padEnd(8), f.id, f.database ?? '', '|', f.observed, '|', f.required ?? '', '|', f.detail ?? '', '|', JSON.stringify(f.fix ?? {}), f.only ?? '');
}, 120000);
