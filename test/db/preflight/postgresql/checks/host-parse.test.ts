import { expect, test } from 'vitest';
import { hostParseConflictCheck } from '../../../../../src/db/preflight/postgresql/checks/host-parse.ts';
import { healthyAddress } from '../../network/sample.ts';
import { healthyFacts, outcomeOf } from '../login-facts.ts';

test('contradictions block both methods', () => {
  const setup = { ...healthyFacts, address: { ...healthyAddress, contradictions: ['x'] } };
  expect(outcomeOf(hostParseConflictCheck, setup)).toMatchObject({ status: 'fail', blocks: ['continuous', 'dump'] });
});
