import { describe, expect, it } from 'vitest';
import { deferSignals } from '../../src/platform/signals.ts';
import { testHost } from '../fixtures/host.ts';

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
