import { expect, it } from 'vitest';
import { readFingerprints } from '../../../src/db/preflight/postgresql/each-database.ts';
import { systemClock } from '../../../src/platform/waiting.ts';
import { preflightOptions } from './redis/preflight-options.ts';
import { report } from './sample.ts';

it('a Redis source and one that was not reached have no schemas', async () => {
  const redis = {
    host: 'h',
    port: 1,
    username: undefined,
    password: undefined,
    db: undefined,
    ssl: 'disable',
  } as const;
  const source = { host: 'h', port: 1, dbname: 'd', username: 'u', password: undefined, ssl: 'disable' } as const;
  const { server_version: _version, ...unreached } = report.source;
  const options = preflightOptions({});
  expect(await readFingerprints(systemClock, { engine: 'redis', source: redis }, options, report)).toBeUndefined();
  const without = { ...report, source: unreached };
  expect(await readFingerprints(systemClock, { engine: 'postgresql', source }, options, without)).toBeUndefined();
});
