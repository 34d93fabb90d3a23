import { expect, test } from 'vitest';
import { nearestWord } from '../../../src/cli/values.ts';
import { rejectUnknownIds } from '../../../src/db/preflight/options.ts';
import { postgresqlChecks as postgresql } from '../../../src/db/preflight/postgresql/checks.ts';
import { redisChecks as redis } from '../../../src/db/preflight/redis/checks.ts';

const ids = { postgresql: postgresql.map(({ id }) => id), redis: redis.map(({ id }) => id) };

test('an unknown id in --accept is a usage error with the closest id', () => {
  expect(() => rejectUnknownIds(['wal-rat'], ['wal-rate', 'wal-level'], nearestWord)).toThrow(
    expect.objectContaining({ code: 'usage', hint: expect.stringContaining('"wal-rate"') }),
  );
  expect(() => rejectUnknownIds(['wal-rate'], ['wal-rate'], nearestWord)).not.toThrow();
});

test.each(['postgresql', 'redis'] as const)('for %s the hint has a known id as its example', (engine) => {
  expect(() => rejectUnknownIds(['zzzzzzzzzzzz'], ids[engine], nearestWord)).toThrow(
    expect.objectContaining({ hint: expect.stringMatching(new RegExp(`--accept ${ids[engine][0]}$`)) }),
  );
});
