import { describe, expect, it } from 'vitest';
import { expectGolden } from '../../fixtures/golden.ts';
import { callApi, sandboxFor, send, tokenFor } from '../requests.ts';

describe('bearer tokens of the resource API', () => {
  it.each([
    {},
    { authorization: '' },
    { authorization: 'Bearer' },
    { authorization: 'Bearer ' },
    { authorization: 'Bearer a b' },
    { authorization: 'Bearer a\tb' },
    { authorization: 'Basic eDp5' },
    { authorization: 'sandbox_token' },
    { authorization: 'Bearer,Bearer x' },
    { authorization: ['Bearer x', 'Bearer x'] },
  ])('a missing or malformed Authorization is 401: %j', async (headers) => {
    const sandbox = await sandboxFor();
    for (const path of ['/v2/actions', '/v2/droplets', '/v2/nothing']) {
      const answer = await send(sandbox.ready.base_url, path, { headers });
      expect(answer.status).toBe(401);
      expect(answer.headers['www-authenticate']).toBe('Bearer');
      expect(JSON.parse(answer.body).id).toBe('unauthorized');
    }
  });

  it("an unknown token is not_found, with 404 or the option's 401", async () => {
    for (const unknownTokenStatus of [404, 401] as const) {
      const sandbox = await sandboxFor({ unknownTokenStatus });
      const answer = await callApi(sandbox, 'sandbox_unknown', 'GET', '/v2/droplets');
      expect(answer.status).toBe(unknownTokenStatus);
      const { message, ...rest } = JSON.parse(answer.body);
      expect(rest).toEqual({ id: 'not_found', request_id: answer.headers['x-request-id'] });
      expectGolden('sandbox', message, String(unknownTokenStatus));
    }
  });

  it.each(['tok:en', '"x"', 'caf\u00e9', 'a,b', 'a=b=c', '%00'])('an unknown token can be %s', async (token) => {
    const sandbox = await sandboxFor();
    const answer = await callApi(sandbox, token, 'GET', '/v2/droplets');
    expect([answer.status, JSON.parse(answer.body).id]).toEqual([404, 'not_found']);
  });

  it('the scheme is read in any case', async () => {
    const sandbox = await sandboxFor();
    const { access_token } = await tokenFor(sandbox);
    for (const scheme of ['bearer', 'BEARER']) {
      const answer = await send(sandbox.ready.base_url, '/v2/droplets', {
        headers: { authorization: `${scheme} ${access_token}` },
      });
      expect(answer.status).toBe(200);
    }
  });

  it('a token in the query is not accepted', async () => {
    const sandbox = await sandboxFor();
    const { access_token } = await tokenFor(sandbox);
    expect((await send(sandbox.ready.base_url, `/v2/droplets?access_token=${access_token}`)).status).toBe(401);
  });
});

describe('scope read allows GET and HEAD; other methods are 403 and change nothing', () => {
  it.each(['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])('%s', async (method) => {
    const sandbox = await sandboxFor();
    const { access_token } = await tokenFor(sandbox, { scope: 'read' });
    const before = JSON.parse((await callApi(sandbox, access_token, 'GET', '/v2/droplets')).body);
    for (const path of ['/v2/droplets', `/v2/droplets/${before.droplets[0].id}`, '/v2/nothing']) {
      const answer = await callApi(sandbox, access_token, method, path, {
        name: 'a',
        size: '1gb',
        image: 'debian-12-x64',
      });
      expect(answer.status).toBe(403);
      expect(answer.headers['www-authenticate']).toContain('error="insufficient_scope"');
      expect(JSON.parse(answer.body).id).toBe('forbidden');
    }
    expect(JSON.parse((await callApi(sandbox, access_token, 'GET', '/v2/droplets')).body)).toEqual(before);
    expect((await callApi(sandbox, access_token, 'HEAD', '/v2/droplets')).status).toBe(200);
  });
});
