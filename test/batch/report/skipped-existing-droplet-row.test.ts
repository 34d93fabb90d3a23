import { expect, test } from 'vitest';
import {
  describeSkippedDropletDifferences,
  skippedDropletRow,
} from '../../../src/batch/report/skipped-existing-droplet-row.ts';
import { expectGolden } from '../../fixtures/golden.ts';

const baseline = {
  event: 'baseline',
  at: '2026-01-01T00:00:00Z',
  existing: { a: [1], b: [2] },
  differences: { a: 'size s-2vcpu-4gb instead of s-1vcpu-1gb' },
} as const;

test('a skipped row has the difference of its droplet', () => {
  expect(skippedDropletRow('a', 1, baseline)).toEqual({
    name: 'a',
    status: 'skipped',
    id: 1,
    difference: 'size s-2vcpu-4gb instead of s-1vcpu-1gb',
  });
  expect(skippedDropletRow('b', 2, baseline)).toEqual({ name: 'b', status: 'skipped', id: 2 });
  expect(skippedDropletRow('__proto__', 0, baseline)).toEqual({ name: '__proto__', status: 'skipped' });
  expect(skippedDropletRow('a', 1, undefined)).not.toHaveProperty('difference');
});

test('the differences are one sentence, and no difference is none', () => {
  expect(
    describeSkippedDropletDifferences([skippedDropletRow('b', 2, baseline), { status: 'created' }]),
  ).toBeUndefined();
  const many = Array.from({ length: 22 }, () => skippedDropletRow('a', 1, baseline));
  expectGolden('droplets', describeSkippedDropletDifferences(many.slice(0, 1)) ?? '', 'one');
  expect(describeSkippedDropletDifferences(many)).toContain('2 more');
});
