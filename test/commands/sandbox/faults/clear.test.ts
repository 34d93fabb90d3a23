import { expect, it } from 'vitest';
import { testHost } from '../../../fixtures/host.ts';
import { runCloudctl } from '../../run-cloudctl.ts';
import { startSandboxCommand } from '../start-sandbox.ts';

it('sandbox faults clear makes the sandbox behave again, and prints nothing', async () => {
  const host = testHost();
  const { ready } = await startSandboxCommand(host);
  const add = ['sandbox', 'faults', 'add', '--match', '*', '--action', 'html_502', '--times', '9'];
  expect((await runCloudctl(host, add)).code).toBe(0);
  expect((await fetch(`${ready.base_url}/v2/droplets`)).status).toBe(502);
  expect(await runCloudctl(host, ['sandbox', 'faults', 'clear'])).toMatchObject({ code: 0, out: '' });
  expect((await fetch(`${ready.base_url}/v2/droplets`)).status).toBe(401);
});
