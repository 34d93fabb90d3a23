import { expect, it } from 'vitest';
import { admin, sandboxFor } from '../requests.ts';

it('GET /_sandbox/world returns the ready line with all applications', async () => {
  const sandbox = await sandboxFor({ apps: [{ name: 'Mine', callbackUrl: 'https://mine.example/cb' }] });
  const ready: typeof sandbox.ready = JSON.parse((await admin(sandbox, 'GET', '/_sandbox/world')).body);
  const { applications } = ready;
  expect(ready).toEqual(sandbox.ready);
  expect(applications).toHaveLength(3);
  expect(applications[0]).toMatchObject({
    client_id: ready.client_id,
    client_secret: ready.client_secret,
    callback_urls: [ready.callback_url],
  });
  expect(applications[2]).toMatchObject({ name: 'Mine', callback_urls: ['https://mine.example/cb'] });
});
