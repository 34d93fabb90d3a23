import { expect, it } from 'vitest';
import {
  applyWaitFailuresToStatusCounts,
  batchRowAfterWait,
  createDropletWaitResults,
} from '../../../src/batch/waiting/wait-results.ts';

it('a created row gets the address of its droplet, and fails when the droplet cannot become active', () => {
  const results = createDropletWaitResults();
  results.addresses.set(1, '203.0.113.1');
  results.failures.set(2, 'deleted');
  const created = { name: 'a', status: 'created', id: 1 } as const;
  expect(batchRowAfterWait(created, results)).toEqual({ ...created, public_ipv4: '203.0.113.1' });
  expect(batchRowAfterWait({ ...created, id: 2 }, results)).toEqual({
    name: 'a',
    status: 'failed',
    id: 2,
    error: 'deleted',
  });
  expect(batchRowAfterWait({ ...created, id: 3 }, results)).toEqual({ ...created, id: 3 });
  const skipped = { name: 'a', status: 'skipped', id: 2 } as const;
  expect(batchRowAfterWait(skipped, results)).toBe(skipped);
  const counts = { created: 3, failed: 1, skipped: 0, unknown: 0, missing: 0 };
  expect(applyWaitFailuresToStatusCounts(counts, results)).toEqual({ ...counts, created: 2, failed: 2 });
});
