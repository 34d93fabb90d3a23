import { expect, it } from 'vitest';
import { deferred } from '../../src/platform/deferred.ts';

it('resolves once, with a value or with what a promise gives', async () => {
  const value = deferred<number>();
  value.resolve(1);
  value.resolve(2);
  expect(await value.promise).toBe(1);
  const nested = deferred<number>();
  nested.resolve(Promise.reject(new Error('failed')));
  await expect(nested.promise).rejects.toThrow('failed');
});
