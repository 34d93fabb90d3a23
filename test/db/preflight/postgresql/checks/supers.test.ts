import { expect, test } from 'vitest';
import { otherSupersCheck } from '../../../../../src/db/preflight/postgresql/checks/supers.ts';
import { preflightOptions, short, sourceFacts } from '../facts.ts';

const logins = [
  { name: 'migrator', superuser: true, canLogin: true, attributes: [] },
  { name: 'app', superuser: false, canLogin: true, attributes: [] },
  { name: 'root', superuser: true, canLogin: false, attributes: [] },
];

test('superusers other than the migration role are named', () => {
  expect(otherSupersCheck.evaluate({ logins }, sourceFacts(), preflightOptions())).toMatchObject({
    status: 'warn',
    objects: ['root'],
  });
  expect(short(otherSupersCheck.evaluate({ logins: logins.slice(0, 2) }, sourceFacts(), preflightOptions()))).toBe(
    'pass',
  );
});
