import { expect, test } from 'vitest';
import { portDefaultPoolerCheck } from '../../../../../src/db/preflight/postgresql/checks/port-default.ts';
import { healthyAddress } from '../../network/sample.ts';
import { healthyFacts, outcomeOf } from '../login-facts.ts';

test.each([25060, 25061, 6432, 6543])('port %d is remarkable', (port) => {
  expect(outcomeOf(portDefaultPoolerCheck, { ...healthyFacts, address: { ...healthyAddress, port } }).status).toBe(
    'info',
  );
});
