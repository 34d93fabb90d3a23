import { expect, test } from 'vitest';
import { createReconnecting } from '../../../src/db/engine/session.ts';

test('a session is opened once, and again after an outage; an outage that lasts is an error', async () => {
  let opened = 0;
  let isDown = false;
  const held = createReconnecting({
    open: async () => ++opened,
    close: () => {},
    isTransient: (error) => error instanceof Error && error.message === 'down',
    outageTimeout: 50,
  });
  const ask = () =>
    held.run(async (session) => {
      if (isDown) throw new Error('down');
      return session;
    });
  expect([await ask(), await ask()]).toEqual([1, 1]);
  isDown = true;
  expect(await ask()).toBe(undefined);
  isDown = false;
  expect(await ask()).toBe(3 - 1);
  isDown = true;
  expect(await ask()).toBe(undefined);
  await new Promise((resolve) => setTimeout(resolve, 80));
  await expect(ask()).rejects.toThrow('down');
});

test('what will not pass by waiting is an error at once', async () => {
  const held = createReconnecting({
    open: async () => 1,
    close: () => {},
    isTransient: () => false,
    outageTimeout: 1000,
  });
  await expect(held.run(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
});
