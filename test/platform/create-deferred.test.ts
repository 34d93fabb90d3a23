import { expect, it } from 'vitest';
import { createDeferred } from '../../src/platform/waiting.ts';

it('resolves once, with a value or with what a promise gives', async () => {
  const value = createDeferred<number>();
  value.resolve(1);
  value.resolve(2);
  expect(await value.promise).toBe(1);
  const nested = createDeferred<number>();
  nested.resolve(Promise.reject(new Error('failed')));
  await expect(nested.promise).rejects.toThrow('failed');
});
