import { expect, it } from 'vitest';
import {
  migrationTargetInputNames,
  rehearsalTargetInputNames,
  targetLoginHint,
} from '../../../src/db/cutover/target-login-hint.ts';
import { clientSideDatabaseErrorCodes, DatabaseConnectError } from '../../../src/platform/connect-error.ts';

const failed = (code: string): Error => new DatabaseConnectError('startup', code, 'no');

it.each([
  [clientSideDatabaseErrorCodes.noTls, 'sslmode=disable'],
  [clientSideDatabaseErrorCodes.cleartextPassword, 'sslmode=verify-full'],
  [clientSideDatabaseErrorCodes.noPassword, 'CLOUDCTL_TARGET_PASSWORD'],
  ['28P01', 'CLOUDCTL_TARGET_PASSWORD'],
  ['WRONGPASS', 'CLOUDCTL_TARGET_PASSWORD'],
  ['ECONNREFUSED', '--target'],
])('the hint for %s names %s', (code, named) => {
  expect(targetLoginHint(failed(code), migrationTargetInputNames)).toContain(named);
});

it('names the option and the variable of the command', () => {
  expect(targetLoginHint(failed('28P01'), rehearsalTargetInputNames)).toContain('CLOUDCTL_REHEARSE_INTO_PASSWORD');
  expect(targetLoginHint(new Error('x'), rehearsalTargetInputNames)).toContain('--into');
});
