import { execFile } from 'node:child_process';
import { setTimeout as after } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { timeoutSignal } from '../../src/platform/waiting.ts';

it.each([2 ** 31, 2 ** 32, 8.64e16])('a deadline of %d ms is not over at once', async (ms) => {
  const signal = timeoutSignal(ms);
  await after(20);
  expect(signal.aborted).toBe(false);
});

it('a deadline is a TimeoutError when it is over', async () => {
  const signal = timeoutSignal(5);
  await new Promise((resolve) => signal.addEventListener('abort', resolve));
  expect(signal.reason).toMatchObject({ name: 'TimeoutError' });
});

it('a deadline is over sooner when another signal is aborted, with its reason', async () => {
  const stop = new AbortController();
  const signal = timeoutSignal(60_000, stop.signal, new AbortController().signal);
  expect(signal.aborted).toBe(false);
  stop.abort('stopped');
  expect(signal.reason).toBe('stopped');
  expect(timeoutSignal(60_000, stop.signal).reason).toBe('stopped');
});

/** Starts Node with `--expose-gc`, and `timeoutSignal` in the program of the text. */
async function runWithGarbageCollection(program: string) {
  const source = `${timeoutSignal.toString().replaceAll('maxTimerMs', String(2 ** 31 - 1))}\n${program}`;
  return promisify(execFile)(process.execPath, ['--expose-gc', '--input-type=module', '--eval', source]);
}

it('a combined deadline is over in time after garbage collections, also as a part of another combination', async () => {
  const { stdout } = await runWithGarbageCollection(`
    const stop = new AbortController();
    const makers = {
      combined: () => timeoutSignal(300, stop.signal),
      twice: () => timeoutSignal(60_000, timeoutSignal(300, stop.signal)),
      part: () => AbortSignal.any([timeoutSignal(300), stop.signal]),
    };
    for (const [name, make] of Object.entries(makers)) make().addEventListener('abort', () => console.log(name));
    const collecting = setInterval(gc, 20);
    setTimeout(() => clearInterval(collecting), 1_000);
  `);
  expect(stdout.split('\n').filter(Boolean).sort()).toEqual(['combined', 'part', 'twice']);
});

it('10,000 deadlines with the same signal keep no listeners and little memory, and do not keep the process running', async () => {
  const { stdout, stderr } = await runWithGarbageCollection(`
    const stop = new AbortController();
    const send = (signal) => {
      const payload = new Uint8Array(10_000);
      const abort = () => payload;
      signal.addEventListener('abort', abort);
      signal.removeEventListener('abort', abort);
    };
    for (let at = 0; at < 100; at++) send(timeoutSignal(60_000, stop.signal));
    gc();
    const before = process.memoryUsage();
    for (let at = 0; at < 10_000; at++) {
      send(timeoutSignal(60_000, stop.signal));
      // A garbage collection needs an end of the current task to remove what a WeakRef refers to.
      if (at % 100 === 0) await new Promise(setImmediate);
    }
    await new Promise(setImmediate);
    gc();
    await new Promise(setImmediate);
    gc();
    const after = process.memoryUsage();
    console.log(Math.round((after.heapUsed + after.arrayBuffers - before.heapUsed - before.arrayBuffers) / 10_000));
  `);
  expect(stderr).toBe('');
  // Bytes for each deadline whose timer still runs.
  expect(Number(stdout)).toBeLessThan(4_000);
});
