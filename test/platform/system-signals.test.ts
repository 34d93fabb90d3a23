import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { systemSignals } from '../../src/platform/signals.ts';

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
