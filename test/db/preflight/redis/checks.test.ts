import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { redisChecks } from '../../../../src/db/preflight/redis/checks.ts';
import { expectGolden } from '../../../fixtures/golden.ts';

test('every id is used once, and names the file of its check', () => {
  const ids = redisChecks.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  const folder = new URL('../../../../src/db/preflight/redis/checks/', import.meta.url);
  expect(ids.filter((id) => !existsSync(new URL(`${id}.ts`, folder)))).toEqual([]);
});

test('the titles and headlines of all checks', () => {
  expectGolden(
    'db-preflight-redis',
    redisChecks.map(({ id, title, headline }) => `${id}\n  pass: ${title}\n  else: ${headline}`).join('\n'),
  );
});
