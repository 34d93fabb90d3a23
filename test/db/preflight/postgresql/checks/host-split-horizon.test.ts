import { expect, test } from 'vitest';
import { postgresqlHostSplitHorizonCheck } from '../../../../../src/db/preflight/postgresql/checks/host-split-horizon.ts';
import { found, healthyAddress } from '../../network/sample.ts';
import { healthyFacts, outcomeOf } from '../login-facts.ts';

test('the same addresses here and in public DNS pass', () => {
  expect(outcomeOf(postgresqlHostSplitHorizonCheck, healthyFacts).status).toBe('pass');
});

test('other addresses here than in public DNS are a warning', () => {
  const address = { ...healthyAddress, lookup: found('10.0.0.5') };
  expect(outcomeOf(postgresqlHostSplitHorizonCheck, { ...healthyFacts, address }).status).toBe('warn');
});
