import { expect, test } from 'vitest';
import { postgresqlHostPublicAddressCheck } from '../../../../../src/db/preflight/postgresql/checks/host-public-address.ts';
import { literal } from '../../network/sample.ts';
import { healthyFacts, outcomeOf } from '../login-facts.ts';

test('a private address blocks both methods', () => {
  const setup = { ...healthyFacts, address: literal('10.0.0.5') };
  expect(outcomeOf(postgresqlHostPublicAddressCheck, setup)).toMatchObject({
    status: 'fail',
    blocks: ['continuous', 'dump'],
  });
});
