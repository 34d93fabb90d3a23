import { expect, test } from 'vitest';
import { nearest } from '../../src/cli/suggest.ts';
import { refuseUnknownIds } from '../../src/preflight/misspelt.ts';
import { catalogue as postgresql } from '../../src/preflight/postgresql/catalogue.ts';
import { catalogue as redis } from '../../src/preflight/redis/catalogue.ts';

const ids = { postgresql: postgresql.map(({ id }) => id), redis: redis.map(({ id }) => id) };

test('an id in --accept that no check has ends the run, with the one that was meant', () => {
  expect(() => refuseUnknownIds(['wal-rat'], ['wal-rate', 'wal-level'], nearest)).toThrow(
    expect.objectContaining({ code: 'usage', hint: 'did you mean "wal-rate"?' }),
  );
  expect(() => refuseUnknownIds(['wal-rate'], ['wal-rate'], nearest)).not.toThrow();
});

test.each(['postgresql', 'redis'] as const)('for %s the example in the hint is a check that it has', (engine) => {
  expect(() => refuseUnknownIds(['zzzzzzzzzzzz'], ids[engine], nearest)).toThrow(
    expect.objectContaining({ hint: `take the ids from the report, as in --accept ${ids[engine][0]}` }),
  );
});
