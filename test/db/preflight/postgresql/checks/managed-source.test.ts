import { expect, test } from 'vitest';
import { managedSourceCheck } from '../../../../../src/db/preflight/postgresql/checks/managed-source.ts';
import { healthyAddress, healthyWish } from '../../network/sample.ts';
import { expectText } from '../expect-text.ts';
import { entered, healthyFacts } from '../login-facts.ts';

function judged(marks: readonly string[], host = 'db.example.com', superuser = false) {
  const setup = { ...healthyFacts, address: { ...healthyAddress, host }, connection: { ...entered, superuser } };
  return managedSourceCheck.evaluate({ marks }, setup, healthyWish);
}

test.each([
  [[], 'db.example.com', false, 'pass'],
  [[], 'db.example.com', true, 'pass'],
  [['role:doadmin'], 'db.example.com', false, 'fail'],
  [['role:_doadmin', 'db:_dodb'], 'db.example.com', true, 'fail'],
  [[], 'x-do-user-1.b.db.ondigitalocean.com', false, 'fail'],
  [[], 'X.DB.ONDIGITALOCEAN.COM.', true, 'fail'],
  [['role:doadmin'], 'db.example.com', true, 'warn'],
  [['role:rdsadmin', 'guc:rds.extensions'], 'db.example.com', false, 'warn'],
  [[], 'x.eu-west-1.rds.amazonaws.com', false, 'warn'],
  [['role:rdsadmin'], 'db.example.com', true, 'pass'],
  [['role:avnadmin'], 'db.example.com', false, 'warn'],
  [['role:neon_superuser'], 'ep-x.neon.tech', false, 'warn'],
] as const)('marks %j at %s, superuser %s: %s', (marks, host, superuser, status) => {
  const outcome = judged(marks, host, superuser);
  expect(outcome.status).toBe(status);
  expect(outcome.blocks).toEqual(status === 'fail' ? ['continuous', 'dump'] : []);
});

test('the service is named once', () => {
  expectText(judged(['role:rdsadmin', 'db:rdsadmin'], 'x.rds.amazonaws.com').observed);
});
