import { expect, it } from 'vitest';
import { fetchAccount } from '../../src/api/account-details.ts';
import { workLoginHints } from './login-hints.ts';
import { testResponse } from './test-response.ts';

const uuid = '1b4e28ba-2fa1-41d2-883f-0016d3cca427';

function read(status: number, body: unknown) {
  const api = {
    baseOrigin: 'https://api.example.com',
    request: async () => testResponse(status, body),
    success: async () => Promise.reject(new Error('not used')),
    json: async () => Promise.reject(new Error('not used')),
  };
  return fetchAccount(api, workLoginHints);
}

it.each([
  [
    200,
    { account: { uuid, team: { uuid: 't', name: 'Ops' }, name: 'Ada', email: 7 } },
    { accountUuid: uuid, team: 't', name: 'Ada', teamName: 'Ops' },
  ],
  [200, { account: { uuid, team: null } }, { accountUuid: uuid, team: 'personal' }],
  [200, { account: { uuid } }, { accountUuid: uuid }],
  [200, { account: { uuid: 7, team: 'x' } }, {}],
  [200, [], {}],
  [404, { id: 'not_found' }, {}],
  [403, {}, {}],
] as const)('status %i with %j is %j', async (status, body, expected) => {
  expect(await read(status, body)).toEqual(expected);
});

it('an error of the server is an error', async () => {
  await expect(read(500, { id: 'server_error', message: 'x' })).rejects.toMatchObject({ code: 'api_error' });
});
