import { expect, it } from 'vitest';
import { testHost } from '../../fixtures/host.ts';
import { cloudctl } from '../ground.ts';
import { started } from './ground.ts';

it('sandbox token says what the sandbox did not like', async () => {
  const host = testHost();
  await started(host);
  const ran = await cloudctl(host, ['sandbox', 'token', '--user', 'nobody', '-o', 'json']);
  expect(ran).toMatchObject({ code: 1, out: '' });
  expect(ran.err).toContain('user must be');
});

it('sandbox token prints the access token alone, and the grant with json', async () => {
  const host = testHost();
  await started(host);
  const words = ['sandbox', 'token', '--user', 'maya@example.com', '--scope', 'read write'];
  expect(await cloudctl(host, words)).toMatchObject({ code: 0, out: expect.stringMatching(/^[\x21-\x7e]+\n$/) });
  const grant = await cloudctl(host, [...words, '-o', 'json']);
  expect(grant.code).toBe(0);
  expect(grant.json()).toMatchObject({ scope: 'read write', expires_in: 2_592_000 });
});
