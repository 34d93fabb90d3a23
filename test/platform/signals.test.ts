import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { deferSignals, interruptSelf, systemSignals } from '../../src/platform/signals.ts';
import { testHost } from '../fixtures/host.ts';

describe('the signals of the system', () => {
  const counts = () => (['SIGINT', 'SIGTERM', 'SIGHUP'] as const).map((signal) => process.listenerCount(signal));

  /** A real signal, caught by the listeners of the test. */
  async function raise(): Promise<void> {
    const caught = once(process, 'SIGHUP');
    process.kill(process.pid, 'SIGHUP');
    await caught;
  }

  describe.skipIf(process.platform === 'win32')('signals', () => {
    it('are heard by every listener, and caught only while there is one', async () => {
      const before = counts();
      const signals = systemSignals();
      const heard: string[] = [];
      const stops = [
        signals.listen((signal) => heard.push(`a ${signal}`)),
        signals.listen((signal) => heard.push(`b ${signal}`)),
      ];
      await raise();
      stops[0]?.();
      stops[0]?.();
      await raise();
      expect(heard).toEqual(['a SIGHUP', 'b SIGHUP', 'b SIGHUP']);
      expect(counts()).not.toEqual(before);
      stops[1]?.();
      expect(counts()).toEqual(before);
    });

    it('on Windows include Ctrl-Break, which counts as Ctrl-C', () => {
      const heard: string[] = [];
      const stop = systemSignals('win32').listen((signal) => heard.push(signal));
      process.emit('SIGBREAK', 'SIGBREAK');
      stop();
      expect(process.listenerCount('SIGBREAK')).toBe(0);
      expect(heard).toEqual(['SIGINT']);
    });

    it('nobody listens to let something happen at once, and else after the last listener', () => {
      const signals = systemSignals();
      let times = 0;
      signals.whenNoListeners(() => times++);
      expect(times).toBe(1);
      const stop = signals.listen(() => {});
      signals.whenNoListeners(() => times++);
      expect(times).toBe(1);
      stop();
      expect(times).toBe(2);
    });
  });
});

describe('signals that are deferred', () => {
  describe('work that must not be interrupted', () => {
    it('gives its result when no signal came, and its error', async () => {
      const { signals, signal } = testHost();
      expect(await deferSignals(signals, async () => 7)).toBe(7);
      await expect(deferSignals(signals, () => Promise.reject(new Error('x')))).rejects.toThrow('x');
      expect(signal('SIGINT')).toBe(0);
    });

    it('ends by the first of several signals', async () => {
      const { signals, signal } = testHost();
      const work = deferSignals(signals, async () => {
        signal('SIGTERM');
        signal('SIGINT');
      });
      await expect(work).rejects.toMatchObject({ exitCode: 143 });
    });
  });
});

describe('an interrupt of the own process', () => {
  function processWith(platform: NodeJS.Platform, hasListener: boolean) {
    const calls: string[] = [];
    return {
      calls,
      platform,
      pid: 7,
      kill: (pid: number, signal: string) => calls.push(`kill ${pid} ${signal}`),
      emit: (event: string) => {
        calls.push(`emit ${event}`);
        return hasListener;
      },
      exit: (status: number) => calls.push(`exit ${status}`),
    };
  }

  it.each([
    ['linux', true, ['kill 7 SIGINT']],
    ['darwin', true, ['kill 7 SIGINT']],
    ['win32', true, ['emit SIGINT']],
    ['win32', false, ['emit SIGINT', 'exit 130']],
  ] as const)('on %s, with a listener: %s', (platform, hasListener, calls) => {
    const target = processWith(platform, hasListener);
    interruptSelf(target);
    expect(target.calls).toEqual(calls);
  });
});
