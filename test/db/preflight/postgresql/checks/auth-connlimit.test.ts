import { expect, test } from 'vitest';
import { authConnlimitCheck } from '../../../../../src/db/preflight/postgresql/checks/auth-connlimit.ts';
import { preflightOptions, role, short, sourceFacts } from '../facts.ts';

test.each([
  { what: 'a superuser is not limited', is: { connectionLimit: 1 }, verdict: 'pass' },
  { what: 'no limit', is: { superuser: false }, verdict: 'pass' },
  { what: 'too few for two tables', is: { superuser: false, connectionLimit: 9 }, verdict: 'warn' },
  { what: 'enough for two tables', is: { superuser: false, connectionLimit: 10 }, verdict: 'pass' },
])('connection limit of the role, $what: $verdict', ({ is, verdict }) => {
  expect(short(authConnlimitCheck.evaluate({ role: role(is), databases: [] }, sourceFacts(), preflightOptions()))).toBe(
    verdict,
  );
});
