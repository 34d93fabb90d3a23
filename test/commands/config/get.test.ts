import { expect, it } from 'vitest';
import { testHost } from '../../fixtures/host.ts';
import { runCloudctl } from '../run-cloudctl.ts';

it('config get gives the value in force: option, then variable, then profile', async () => {
  const host = testHost();
  await runCloudctl(host, ['config', 'set', 'base_url', 'https://profile.example']);
  const env = { CLOUDCTL_BASE_URL: 'https://env.example' };
  const get = ['config', 'get', 'base_url'];
  const typed = await runCloudctl(host, [...get, '--base-url', 'https://typed.example'], { env });
  expect(typed).toMatchObject({ code: 0, out: 'https://typed.example\n' });
  expect((await runCloudctl(host, get, { env })).out).toBe('https://env.example\n');
  expect((await runCloudctl(host, get)).out).toBe('https://profile.example\n');
});
