import { expect, it } from 'vitest';
import { startRowStream } from '../../src/droplets/io.ts';

const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A stream whose reader notes what it is given, and waits after each until it is told to go on. */
function setup(most?: number) {
  const given: (readonly number[])[] = [];
  const pauses: (() => void)[] = [];
  const stream = startRowStream<number>(
    async (batches) => {
      for await (const rows of batches) given.push(rows);
    },
    {
      sleep: (_, cut) =>
        new Promise<void>((resolve) => {
          pauses.push(resolve);
          cut?.addEventListener('abort', () => resolve());
        }),
    },
    most,
  );
  return { given, stream, goOn: () => pauses.shift()?.() };
}

it('the first rows are given at once, and those that come during the pause together after it', async () => {
  const { given, stream, goOn } = setup();
  await stream.push([1]);
  await tick();
  await stream.push([2, 3]);
  await stream.push([4]);
  await tick();
  expect(given).toEqual([[1]]);
  goOn();
  await tick();
  expect(given).toEqual([[1], [2, 3, 4]]);
});

it('the end cuts the pause short and leaves no row behind', async () => {
  const { given, stream } = setup();
  await stream.push([1]);
  await tick();
  await stream.push([2]);
  await stream.end();
  expect(given).toEqual([[1], [2]]);
  await setup().stream.end();
});

it('rows that come faster than the pauses cut them short', async () => {
  const { given, stream } = setup(4);
  await stream.push([1]);
  await tick();
  await stream.push([2]);
  await tick();
  expect(given).toEqual([[1]]);
  await stream.push([3]);
  await tick();
  expect(given).toEqual([[1], [2, 3]]);
});

it('a pause that rows did not wait for holds for those after them, and its end brings them', async () => {
  const { given, stream, goOn } = setup(4);
  await stream.push([1]);
  await tick();
  await stream.push([2, 3]);
  await tick();
  await stream.push([4]);
  await tick();
  expect(given).toEqual([[1], [2, 3]]);
  goOn();
  await tick();
  expect(given).toEqual([[1], [2, 3], [4]]);
});

it('who brings rows waits while too many wait for a slow reader', async () => {
  const given: (readonly number[])[] = [];
  let goOn = (): void => {};
  const stream = startRowStream<number>(
    async (batches) => {
      for await (const rows of batches) {
        given.push(rows);
        await new Promise<void>((resolve) => {
          goOn = resolve;
        });
      }
    },
    { sleep: async () => {} },
    2,
  );
  await stream.push([1]);
  await tick();
  let isTaken = false;
  const pushed = stream.push([2, 3, 4])?.then(() => {
    isTaken = true;
  });
  await tick();
  expect(isTaken).toBe(false);
  goOn();
  await pushed;
  expect(given).toEqual([[1], [2, 3, 4]]);
});

it('what ended the reader is told to whoever waits, whoever comes later, and at the end', async () => {
  const reason = new Error('the disk is full');
  const stream = startRowStream<number>(
    async (batches) => {
      for await (const _ of batches) throw reason;
    },
    { sleep: async () => {} },
    0,
  );
  await expect(stream.push([1])).rejects.toBe(reason);
  expect(() => stream.push([2])).toThrow(reason);
  await expect(stream.end()).rejects.toBe(reason);
});
