import { expect, test } from 'vitest';
import { nearestWord } from '../../src/cli/suggest.ts';
import { postgresqlChecks as postgresql } from '../../src/preflight/postgresql/checks.ts';
import { redisChecks as redis } from '../../src/preflight/redis/checks.ts';
import { rejectUnknownCheckIds } from '../../src/preflight/unknown-check-ids.ts';

const ids = { postgresql: postgresql.map(({ id }) => id), redis: redis.map(({ id }) => id) };

test('an id in --accept that no check has ends the run, with the one that was meant', () => {
  expect(() => rejectUnknownCheckIds(['wal-rat'], ['wal-rate', 'wal-level'], nearestWord)).toThrow(
    expect.objectContaining({ code: 'usage', hint: 'did you mean "wal-rate"?' }),
  );
  expect(() => rejectUnknownCheckIds(['wal-rate'], ['wal-rate'], nearestWord)).not.toThrow();
});

test.each(['postgresql', 'redis'] as const)('for %s the example in the hint is a check that it has', (engine) => {
  expect(() => rejectUnknownCheckIds(['zzzzzzzzzzzz'], ids[engine], nearestWord)).toThrow(
    expect.objectContaining({ hint: `take the ids from the report, as in --accept ${ids[engine][0]}` }),
  );
});
