import { expect, it } from 'vitest';
import { rehearsalInputs, targetInputs, targetLoginHint } from '../../../src/db/cutover/target.ts';
import { clientSideDatabaseErrorCodes, DatabaseConnectError } from '../../../src/platform/network-errors.ts';

const failed = (code: string): Error => new DatabaseConnectError('startup', code, 'no');

it.each([
  [clientSideDatabaseErrorCodes.noTls, 'sslmode=disable'],
  [clientSideDatabaseErrorCodes.cleartextPassword, 'sslmode=verify-full'],
  [clientSideDatabaseErrorCodes.weakScram, 'sslmode=verify-full'],
  [clientSideDatabaseErrorCodes.noPassword, 'CLOUDCTL_TARGET_PASSWORD'],
  ['28P01', 'CLOUDCTL_TARGET_PASSWORD'],
  ['WRONGPASS', 'CLOUDCTL_TARGET_PASSWORD'],
  ['ECONNREFUSED', '--target'],
])('the hint for %s names %s', (code, named) => {
  expect(targetLoginHint(failed(code), targetInputs)).toContain(named);
});

it('names the option and the variable of the command', () => {
  expect(targetLoginHint(failed('28P01'), rehearsalInputs)).toContain('CLOUDCTL_REHEARSE_INTO_PASSWORD');
  expect(targetLoginHint(new Error('x'), rehearsalInputs)).toContain('--into');
});
