import { expect, it } from 'vitest';
import { usageError } from '../../src/base/errors.ts';
import { createInventoryFileFailures } from '../../src/inventory/inventory-file-failures.ts';

it('keeps the first error of a file, which is no usage error, and counts all', () => {
  const files = createInventoryFileFailures();
  expect(files.attempt(() => {})).toBe(true);
  expect(files.error()).toBeUndefined();
  const fail = (message: string) => () => {
    throw usageError(message);
  };
  expect(files.attempt(fail('first'))).toBe(false);
  expect(files.error()).toMatchObject({ code: 'internal', exitCode: 1, message: 'first', detail: undefined });
  files.attempt(fail('second'));
  expect(files.error()).toMatchObject({ message: 'first', detail: expect.stringContaining('2') });
});

it('does not hide errors of the program', () => {
  const broken = () => {
    throw new TypeError('broken');
  };
  expect(() => createInventoryFileFailures().attempt(broken)).toThrow(TypeError);
});
