import { expect, it } from 'vitest';
import { testHost } from '../../fixtures/host.ts';
import { runCloudctl } from '../run-cloudctl.ts';
import { startSandboxCommand } from './start-sandbox.ts';

it('sandbox clock stops, moves and starts the time', async () => {
  const host = testHost();
  await startSandboxCommand(host);
  const frozen = await runCloudctl(host, ['sandbox', 'clock', 'freeze', '-o', 'json']);
  expect(frozen.code).toBe(0);
  expect(frozen.json()).toMatchObject({ frozen: true });
  const before = frozen.json<{ now: string }>().now;
  const moved = await runCloudctl(host, ['sandbox', 'clock', '+30d', '-o', 'json']);
  expect(Date.parse(moved.json<{ now: string }>().now) - Date.parse(before)).toBe(30 * 86_400_000);
  expect(moved.code).toBe(0);
  expect(await runCloudctl(host, ['sandbox', 'clock'])).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^\d{4}-\S+Z \(frozen\)\n$/),
  });
  expect((await runCloudctl(host, ['sandbox', 'clock', 'resume'])).out).not.toContain('frozen');
});
