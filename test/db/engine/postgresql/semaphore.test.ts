import { expect, test } from 'vitest';
import { createSemaphore } from '../../../../src/db/engine/postgresql/context.ts';

test('no more than its width are inside at once, all come in, and one that fails makes room', async () => {
  const gate = createSemaphore(3);
  let [inside, most, done] = [0, 0, 0];
  const work = (fails: boolean) =>
    gate(async () => {
      inside += 1;
      most = Math.max(most, inside);
      await new Promise((resolve) => setTimeout(resolve, 1));
      inside -= 1;
      done += 1;
      if (fails) throw new Error('no');
    });
  const all = await Promise.allSettled(Array.from({ length: 30 }, (_, at) => work(at % 2 === 0)));
  expect([most, done, all.filter(({ status }) => status === 'rejected').length]).toEqual([3, 30, 15]);
});
