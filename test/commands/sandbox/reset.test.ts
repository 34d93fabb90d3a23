import { expect, it } from 'vitest';
import { testHost } from '../../fixtures/host.ts';
import { cloudctl } from '../ground.ts';
import { started } from './ground.ts';

it('sandbox reset ends every session of it', async () => {
  const host = testHost();
  const { ready } = await started(host);
  const { out } = await cloudctl(host, ['sandbox', 'token', '--user', 'maya@example.com']);
  expect(await cloudctl(host, ['sandbox', 'reset'])).toMatchObject({ code: 0, out: '' });
  const env = { CLOUDCTL_ACCESS_TOKEN: out.trim(), CLOUDCTL_BASE_URL: ready.base_url ?? '' };
  expect((await cloudctl(host, ['actions', 'list'], { env })).code).toBe(4);
});
