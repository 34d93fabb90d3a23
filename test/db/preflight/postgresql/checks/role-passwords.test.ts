import { expect, test } from 'vitest';
import { rolePasswordsCheck } from '../../../../../src/db/preflight/postgresql/checks/role-passwords.ts';
import { expectOutcomeText } from '../expect-text.ts';
import { preflightOptions, short, sourceFacts } from '../facts.ts';

const logins = [
  { name: 'migrator', superuser: true, canLogin: true, attributes: [] },
  { name: 'app', superuser: false, canLogin: true, attributes: [] },
  { name: 'root', superuser: true, canLogin: false, attributes: [] },
];

test('login roles other than the migration role are named', () => {
  expect(rolePasswordsCheck.evaluate({ logins }, sourceFacts(), preflightOptions())).toMatchObject({
    status: 'warn',
    dataLoss: expect.any(String),
    objects: ['app'],
  });
  expect(short(rolePasswordsCheck.evaluate({ logins: logins.slice(0, 1) }, sourceFacts(), preflightOptions()))).toBe(
    'pass',
  );
});

test('attributes that the target does not give are named, also of a role that cannot log in', () => {
  const auditor = { name: 'auditor', superuser: false, canLogin: false, attributes: ['BYPASSRLS'] };
  const outcome = rolePasswordsCheck.evaluate({ logins: [...logins, auditor] }, sourceFacts(), preflightOptions());
  expect(outcome.objects).toEqual(['app', 'auditor (BYPASSRLS)']);
  expectOutcomeText(outcome);
});
