import { expect, test } from 'vitest';
import { targetLoginCheck } from '../../../../../src/db/preflight/postgresql/checks/target-login.ts';
import { postgresqlTarget, preflightOptions, short, sourceFacts } from '../facts.ts';

test.each([
  { what: 'a superuser', target: {}, verdict: 'pass' },
  {
    what: 'no right to create databases',
    target: { isSuperuser: false, mayCreateDatabases: false },
    verdict: 'fail continuous+dump',
  },
  {
    what: 'databases that are there',
    target: { isSuperuser: false, mayCreateDatabases: false, databases: new Set(['d1', 'postgres']) },
    verdict: 'pass',
  },
  { what: 'no right to subscribe', target: { isSuperuser: false, maySubscribe: false }, verdict: 'fail continuous' },
  {
    what: 'no right to subscribe at a managed service',
    target: { isSuperuser: false, maySubscribe: false, isManaged: true },
    verdict: 'unknown',
  },
])('$what: $verdict', ({ target, verdict }) => {
  const options = preflightOptions({ target: { host: 'staging', port: 5432, postgresql: postgresqlTarget(target) } });
  expect(short(targetLoginCheck.evaluate({}, sourceFacts(), options))).toBe(verdict);
});

test('a target that was not read is skipped', () => {
  expect(targetLoginCheck.evaluate({}, sourceFacts(), preflightOptions()).status).toBe('skip');
});
