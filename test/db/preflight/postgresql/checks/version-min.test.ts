import { expect, test } from 'vitest';
import { postgresqlVersionMinCheck } from '../../../../../src/db/preflight/postgresql/checks/version-min.ts';
import { entered, healthyFacts, outcomeOf } from '../login-facts.ts';

const of = (version: number) => ({ ...healthyFacts, connection: { ...entered, version } });

test.each([
  [180004, 'pass', []],
  [100000, 'pass', []],
  [90624, 'fail', ['continuous']],
  [90600, 'fail', ['continuous']],
  [90525, 'fail', ['continuous', 'dump']],
  [80002, 'fail', ['continuous', 'dump']],
])('version-min: %d is %s, blocks %j', (version, status, blocks) => {
  expect(outcomeOf(postgresqlVersionMinCheck, of(version))).toMatchObject({ status, blocks });
});
