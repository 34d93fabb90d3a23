import { expect, test } from 'vitest';
import { aclAllows } from '../../../../src/db/preflight/redis/check.ts';

test.each<readonly [rules: string, psync: boolean]>([
  ['+@all', true],
  ['-@all', false],
  ['allcommands', true],
  ['+@all nocommands', false],
  ['+@all -@dangerous', false],
  ['+@all -@dangerous +psync', true],
  ['+psync -@all', false],
  ['-@all +@admin', true],
  ['-@all +@read +@write', false],
  ['-@all +@slow -psync', false],
  ['-@all +PSYNC', true],
  ['-@all +config|get', false],
  ['', false],
])('with %j PSYNC is allowed: %s', (rules, psync) => {
  expect(aclAllows(rules.split(' '), 'psync')).toBe(psync);
});

test('a scan stands in other categories', () => {
  expect(aclAllows(['-@all', '+@read'], 'scan')).toBe(true);
  expect(aclAllows(['-@all', '+@fast'], 'dump')).toBe(false);
});
