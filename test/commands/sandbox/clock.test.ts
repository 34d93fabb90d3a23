import { expect, it } from 'vitest';
import { testHost } from '../../fixtures/host.ts';
import { cloudctl } from '../ground.ts';
import { started } from './ground.ts';

it('sandbox clock stops, moves and starts the time', async () => {
  const host = testHost();
  await started(host);
  const frozen = await cloudctl(host, ['sandbox', 'clock', 'freeze', '-o', 'json']);
  expect(frozen.code).toBe(0);
  expect(frozen.json()).toMatchObject({ frozen: true });
  const before = frozen.json<{ now: string }>().now;
  const moved = await cloudctl(host, ['sandbox', 'clock', '+30d', '-o', 'json']);
  expect(Date.parse(moved.json<{ now: string }>().now) - Date.parse(before)).toBe(30 * 86_400_000);
  expect(moved.code).toBe(0);
  expect(await cloudctl(host, ['sandbox', 'clock'])).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^\d{4}-\S+Z \(frozen\)\n$/),
  });
  expect((await cloudctl(host, ['sandbox', 'clock', 'resume'])).out).not.toContain('frozen');
});
