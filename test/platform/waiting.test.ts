import { execFile } from 'node:child_process';
import { createServer } from 'node:net';
import { setTimeout as after } from 'node:timers/promises';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createDeferred, runningTimeout, systemClock, timeoutSignal } from '../../src/platform/waiting.ts';
import { dbTestHost } from '../commands/db/test-source.ts';
import { startCloudctl } from '../commands/run-cloudctl.ts';

/** The port of a server that takes connections and never says a word. */
async function mutePort(): Promise<{ readonly port: number; readonly met: Promise<void> }> {
  const server = createServer();
  const met = new Promise<void>((resolve) => {
    server.on('connection', (socket) => {
      onTestFinished(() => void socket.destroy());
      resolve();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  return { port: typeof address === 'object' && address !== null ? address.port : 0, met };
}

it.each([
  ['preflight', 'postgres', 'SIGINT', 130],
  ['preflight', 'postgres', 'SIGTERM', 143],
  ['preflight', 'redis', 'SIGTERM', 143],
  ['sequences', 'postgres', 'SIGINT', 130],
  ['sequences', 'postgres', 'SIGTERM', 143],
  ['rehearse', 'postgres', 'SIGINT', 130],
  ['rehearse', 'redis', 'SIGTERM', 143],
] as const)(
  'db %s of %s ends with %s as exit %d, while it waits for the source',
  async (command, scheme, signal, exit) => {
    const { port, met } = await mutePort();
    const address =
      scheme === 'redis' ? `redis://127.0.0.1:${port}` : `postgres://u@127.0.0.1:${port}/d?sslmode=disable`;
    const into = command === 'rehearse' ? ['--into', address, '--yes'] : [];
    const running = startCloudctl(dbTestHost(), ['db', command, '--source', address, ...into, '-o', 'json']);
    await met;
    running.host.signal(signal);
    const ran = await running.ended;
    expect(ran).toMatchObject({ code: exit, out: '' });
    expect(ran.error()).toMatchObject({ code: 'cancelled', exit_code: exit });
    expect(running.host.signal(signal)).toBe(0);
  },
  // A connection that is not given up is waited for ten seconds.
  8_000,
);

describe('a deadline', () => {
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
});

describe('a limit of running time', () => {
  /** The whole thread stands still, as in a process that was stopped. */
  function stopFor(ms: number): void {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
  }

  describe('a limit of running time', () => {
    it('aborts with the error of AbortSignal.timeout', async () => {
      const signal = runningTimeout(30, 10);
      expect(signal.aborted).toBe(false);
      // The timers of the signal do not keep a process alive, the test's own do.
      while (!signal.aborted) await after(5);
      expect(signal.reason).toMatchObject({ name: 'TimeoutError' });
      expect(signal.reason).toBeInstanceOf(DOMException);
    });

    it.each([
      [20_000, 1_000],
      [50, 50],
    ])('of %i ms is not over because the process was stopped for longer', async (ms, tick) => {
      const signal = runningTimeout(ms, tick);
      stopFor(Math.min(ms, 250) + 2 * tick);
      await new Promise((resolve) => setImmediate(resolve));
      expect(signal.aborted).toBe(false);
    });
  });
});

describe('a pause', () => {
  it('a pause does not last longer because the time of day is set back', async () => {
    const began = Date.now();
    const time = vi.spyOn(Date, 'now').mockReturnValueOnce(began);
    onTestFinished(() => time.mockRestore());
    time.mockReturnValue(began - 3_600_000);
    await systemClock.sleep(20);
  });

  it('a pause ends with its signal', async () => {
    await expect(systemClock.sleep(60_000, AbortSignal.timeout(10))).rejects.toThrow();
  });
});

describe('a deferred value', () => {
  it('resolves once, with a value or with what a promise gives', async () => {
    const value = createDeferred<number>();
    value.resolve(1);
    value.resolve(2);
    expect(await value.promise).toBe(1);
    const nested = createDeferred<number>();
    nested.resolve(Promise.reject(new Error('failed')));
    await expect(nested.promise).rejects.toThrow('failed');
  });
});
