import { expect, test } from 'vitest';
import { rolePasswordsCheck } from '../../../../../src/db/preflight/postgresql/checks/role-passwords.ts';
import { preflightOptions, short, sourceFacts } from '../facts.ts';

const logins = [
  { name: 'migrator', superuser: true, canLogin: true },
  { name: 'app', superuser: false, canLogin: true },
  { name: 'root', superuser: true, canLogin: false },
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
