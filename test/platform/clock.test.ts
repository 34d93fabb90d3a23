import { expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '../../src/platform/waiting.ts';

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
