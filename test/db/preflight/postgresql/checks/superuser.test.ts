import { expect, test } from 'vitest';
import { superuserCheck } from '../../../../../src/db/preflight/postgresql/checks/superuser.ts';
import { preflightOptions, role, short, sourceFacts } from '../facts.ts';

test.each([
  { what: 'a superuser', is: {}, verdict: 'pass' },
  { what: 'a bare role', is: { superuser: false }, verdict: 'fail continuous' },
  {
    what: 'a member of rds_superuser',
    is: { superuser: false, memberOf: ['migrator', 'rds_superuser'] },
    verdict: 'warn',
  },
  {
    what: 'a member of doadmin',
    is: { superuser: false, memberOf: ['migrator', 'doadmin'] },
    verdict: 'fail continuous',
  },
])('$what: $verdict', ({ is, verdict }) => {
  expect(short(superuserCheck.evaluate({ role: role(is) }, sourceFacts(), preflightOptions()))).toBe(verdict);
});

test('the fix quotes the role', () => {
  const { fix } = superuserCheck.evaluate(
    { role: role({ superuser: false, name: 'My "role' }) },
    sourceFacts(),
    preflightOptions(),
  );
  expect(fix?.sql).toEqual(['ALTER ROLE "My ""role" SUPERUSER']);
});
