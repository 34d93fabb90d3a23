import { expect, it } from 'vitest';
import { revokeTokenGrant, revokeTokenGrantAndThrow } from '../../../src/auth/session/revoke-grant.ts';
import { CliError } from '../../../src/base/errors.ts';
import { Secret } from '../../../src/base/secret.ts';
import { closedOrigin, reply, serverFor } from '../../fixtures/fake-server.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { testHost } from '../../fixtures/host.ts';

const grant = { accessToken: new Secret('at-1'), refreshToken: new Secret('rt-1') };

function depsFor(origin: string, tokenParams: 'query' | 'body') {
  const host = testHost();
  const client = { authOrigin: origin, clientId: 'c', tokenParams };
  return { client, createSender: () => host.createSender({ env: {}, fresh: true }) };
}

it('at a server that expects a form, the refresh token is revoked as well, and 204 counts as 200', async () => {
  const { origin, seen } = await serverFor((_, response) => reply(response, 204, ''));
  expect(await revokeTokenGrant(depsFor(origin, 'body'), grant)).toBe(true);
  expect(seen.map(({ body }) => body)).toEqual(['token=rt-1&client_id=c', 'token=at-1&client_id=c']);
});

it('at a server that follows docs/service.md, only the access token is revoked, with itself as bearer', async () => {
  const { origin, seen } = await serverFor((_, response) => reply(response, 200, {}));
  expect(await revokeTokenGrant(depsFor(origin, 'query'), grant)).toBe(true);
  expect(seen.map(({ url, headers }) => [url, headers.authorization])).toEqual([
    ['/v1/oauth/revoke?token=at-1', 'Bearer at-1'],
  ]);
});

it('a server that cannot be reached, or refuses, is a failed revocation and no error', async () => {
  expect(await revokeTokenGrant(depsFor(await closedOrigin(), 'query'), grant)).toBe(false);
  const { origin } = await serverFor((_, response) => reply(response, 400, { error: 'invalid_request' }));
  expect(await revokeTokenGrant(depsFor(origin, 'query'), grant)).toBe(false);
});

it('the error of a grant that is not stored says whether it was revoked', async () => {
  const { origin } = await serverFor((_, response) => reply(response, 200, {}));
  const error = new CliError('scope_mismatch', 'other', { detail: 'a fact' });
  for (const [name, server] of [
    ['revoked', origin],
    ['not revoked', await closedOrigin()],
  ] as const) {
    const thrown: unknown = await revokeTokenGrantAndThrow(depsFor(server, 'query'), grant, error).catch(
      (caught) => caught,
    );
    expect(thrown).toMatchObject({ code: 'scope_mismatch', message: 'other' });
    expectGolden('errors', thrown instanceof CliError ? `${thrown.detail}` : '', name);
  }
  const bug = new TypeError('bug');
  await expect(revokeTokenGrantAndThrow(depsFor(origin, 'query'), grant, bug)).rejects.toBe(bug);
});
