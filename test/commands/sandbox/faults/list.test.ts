import { expect, it } from 'vitest';
import { testHost } from '../../../fixtures/host.ts';
import { runCloudctl } from '../../run-cloudctl.ts';
import { startSandboxCommand } from '../start-sandbox.ts';

it('sandbox faults list shows each fault with its counters', async () => {
  const host = testHost();
  const { ready } = await startSandboxCommand(host);
  const list = ['sandbox', 'faults', 'list'];
  expect(await runCloudctl(host, [...list, '-o', 'json'])).toMatchObject({ code: 0, out: '[]\n' });
  expect(
    (
      await runCloudctl(host, [
        'sandbox',
        'faults',
        'add',
        '--match',
        'GET /v2/*',
        '--action',
        'html_502',
        '--times',
        '3',
      ])
    ).code,
  ).toBe(0);
  await fetch(`${ready.base_url}/v2/droplets`);
  expect((await runCloudctl(host, [...list, '-o', 'json'])).json()).toMatchObject([
    { match: { method: 'GET', path: '/v2/*' }, action: 'html_502', matched: 1, applied: 1, remaining: 2 },
  ]);
  expect((await runCloudctl(host, list)).out).toMatch(
    /^ID +Match +Action[\s\S]*1 +GET \/v2\/\* +html_502 +1 +3 .*1 +1 +2\n$/,
  );
});
