import { expect, it } from 'vitest';
import {
  admin,
  authorizationQuery,
  authorize,
  callApi,
  grantFor,
  MAYA,
  refreshWith,
  sandboxFor,
  signIn,
  tokenFor,
} from '../requests.ts';

it('reset restores the initial state and keeps the credentials', async () => {
  const sandbox = await sandboxFor({ dropletLimit: 4 });
  const cookie = await signIn(sandbox, MAYA);
  const { access_token, refresh_token } = await grantFor(sandbox, { changes: { scope: 'read write' } });
  await callApi(sandbox, access_token, 'POST', '/v2/droplets', { name: 'a', size: '1gb', image: 'debian-12-x64' });
  await admin(sandbox, 'POST', '/_sandbox/clock', { freeze: true, advance: '30d' });
  await admin(sandbox, 'POST', '/_sandbox/consent', { mode: 'deny' });
  expect((await admin(sandbox, 'POST', '/_sandbox/reset')).status).toBe(204);

  expect(JSON.parse((await admin(sandbox, 'GET', '/_sandbox/requests')).body)).toEqual({ requests: [], counts: {} });
  expect(JSON.parse((await admin(sandbox, 'GET', '/_sandbox/clock')).body)).toMatchObject({
    frozen: false,
    offset_ms: 0,
  });
  expect((await callApi(sandbox, access_token, 'GET', '/v2/droplets')).status).toBe(404);
  expect((await refreshWith(sandbox, refresh_token)).status).toBe(400);
  expect((await authorize(sandbox, authorizationQuery(sandbox), cookie)).body).toContain('<h1>Sign in</h1>');
  const fresh = await tokenFor(sandbox);
  expect(JSON.parse((await callApi(sandbox, fresh.access_token, 'GET', '/v2/droplets')).body).meta.total).toBe(3);
  expect((await grantFor(sandbox)).scope).toBe('read');
});

it('reset clears the counters of the rate limit', async () => {
  const sandbox = await sandboxFor({ rateLimit: '1/h' });
  await admin(sandbox, 'POST', '/_sandbox/clock', { freeze: true });
  const read = () => callApi(sandbox, 'unknown', 'GET', '/v2/actions');
  expect([(await read()).status, (await read()).status]).toEqual([404, 429]);
  await admin(sandbox, 'POST', '/_sandbox/reset');
  expect((await read()).status).toBe(404);
});
