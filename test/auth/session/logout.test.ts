import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { OAuthClient } from '../../../src/auth/oauth/token.ts';
import { readAccount, storeAccount } from '../../../src/auth/session/account.ts';
import {
  type LogoutOutcome,
  type LogoutRun,
  logOut,
  type Revocation,
  revokeAndThrow,
  revokeGrant,
} from '../../../src/auth/session/logout.ts';
import { CliError } from '../../../src/base/errors.ts';
import { Secret } from '../../../src/base/secret.ts';
import type { SandboxServers } from '../../../src/sandbox/sandbox.ts';
import { errorText } from '../../fixtures/error-text.ts';
import { closedOrigin, type RequestHandler, reply, serverFor } from '../../fixtures/fake-server.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { type TestHost, testHost } from '../../fixtures/host.ts';
import { beginRefresh, seedSession, sessionRun, settingsOf } from '../../fixtures/session.ts';
import { callApi, refreshWith, sandboxFor } from '../../sandbox/requests.ts';

type Probe = NonNullable<Parameters<typeof logOut>[2]>;

function runOf(host: TestHost, sandbox: SandboxServers, changes: Partial<LogoutRun> = {}): LogoutRun {
  return {
    ...sessionRun(host, sandbox),
    client: async ({ authOrigin, clientId }): Promise<OAuthClient> => ({
      authOrigin,
      clientId,
      tokenParams: 'query',
    }),
    timeout: 30_000,
    ...changes,
  };
}

describe('a logout', () => {
  it('deletes, revokes and proves', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const { grant, place } = await seedSession(host, sandbox);
    expect(await logOut(runOf(host, sandbox), false)).toEqual({ kind: 'revoked' });
    expect(existsSync(place.credentialFile)).toBe(false);
    expect((await callApi(sandbox, grant.access_token, 'GET', '/v2/actions')).status).toBe(404);
    expect((await refreshWith(sandbox, grant.refresh_token)).status).toBe(400);
  });

  it('revokes although the account file cannot be removed', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const { grant } = await seedSession(host, sandbox);
    mkdirSync(join(host.folders.config, 'accounts', 'default.json', 'full'), { recursive: true });
    expect(await logOut(runOf(host, sandbox), false)).toEqual({ kind: 'revoked' });
    expect((await callApi(sandbox, grant.access_token, 'GET', '/v2/actions')).status).toBe(404);
  });

  it('in doubt, with tokens that only the server knows, is not proven', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const { grant, record } = await seedSession(host, sandbox);
    const run = runOf(host, sandbox);
    (await beginRefresh(run.store, host, record)).close();
    await refreshWith(sandbox, grant.refresh_token);
    const outcome = await logOut(run, false);
    expectGolden('auth', outcome.kind === 'unproven' ? stable(errorText(outcome.error), sandbox) : outcome.kind);
  });

  it('in doubt, but never processed, is proven', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const { record } = await seedSession(host, sandbox);
    const run = runOf(host, sandbox);
    (await beginRefresh(run.store, host, record)).close();
    expect(await logOut(run, false)).toEqual({ kind: 'revoked' });
  });

  it('deletes before anything is sent', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const { place } = await seedSession(host, sandbox);
    const { folders } = host;
    storeAccount(folders.config, 'default', { sid: '0', scope: 'read', scope_verified: true, flow: 'code' });
    const sent: object[] = [];
    const run = runOf(host, sandbox, {
      send: async (options) => {
        const account = readAccount(folders.config, 'default');
        sent.push({ session: existsSync(place.credentialFile), account });
        return host.createSender({ env: {}, ...options });
      },
    });
    await logOut(run, false);
    const deleted = { session: false, account: undefined };
    // The revocation and the proof.
    expect(sent).toEqual([deleted, deleted]);
  });

  it('tells the server of the record, with the token in the query and as bearer', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const { origin, seen } = await serverFor((_, response) => reply(response, 200, {}));
    await seedSession(host, sandbox, { record: { authOrigin: origin, accessToken: new Secret('at-1') } });
    await logOut(runOf(host, sandbox), false);
    expect(seen).toHaveLength(1);
    expect(seen[0]).toMatchObject({ method: 'POST', url: '/v1/oauth/revoke?token=at-1', body: '' });
    expect(seen[0]?.headers.authorization).toBe('Bearer at-1');
  });

  it('authenticates the client instead at a server that wants a form', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const { origin, seen } = await serverFor((_, response) => reply(response, 200, {}));
    const record = { authOrigin: origin, accessToken: new Secret('at-1'), refreshToken: new Secret('rt-1') };
    await seedSession(host, sandbox, { record });
    const client = { authOrigin: origin, clientId: 'c', clientSecret: new Secret('shh'), tokenParams: 'body' } as const;
    await logOut(
      runOf(host, sandbox, { client: async () => client, settings: settingsOf(sandbox, { token_params: 'body' }) }),
      false,
    );
    // The refresh token as well, which may outlive its access token there.
    expect(seen.map(({ url, body }) => [url, body])).toEqual([
      ['/v1/oauth/revoke', 'token=rt-1&client_id=c&client_secret=shh'],
      ['/v1/oauth/revoke', 'token=at-1&client_id=c&client_secret=shh'],
    ]);
    expect(seen[0]?.headers.authorization).toBeUndefined();
  });

  it.each([
    [
      'accepted',
      { kind: 'unproven', error: { message: expect.stringMatching(/^could not revoke the access token: /) } },
    ],
    ['refused', { kind: 'revoked' }],
  ] as const)(
    'ends the refresh token where access tokens cannot be revoked (RFC 7009 §2.2.1), with a token that is %s then',
    async (fate, expected) => {
      const [host, sandbox] = [testHost(), await sandboxFor()];
      const { origin, seen } = await serverFor(({ body }, response) =>
        body.includes('rt-1')
          ? reply(response, 200, {})
          : reply(response, 400, { error: 'unsupported_token_type', error_description: 'self-contained' }),
      );
      const record = { authOrigin: origin, accessToken: new Secret('at-1'), refreshToken: new Secret('rt-1') };
      await seedSession(host, sandbox, { record });
      const client = { authOrigin: origin, clientId: 'c', clientSecret: new Secret('s'), tokenParams: 'body' } as const;
      const outcome = await logOut(
        runOf(host, sandbox, { client: async () => client, settings: settingsOf(sandbox, { token_params: 'body' }) }),
        false,
        async () => fate,
      );
      expect(outcome).toMatchObject(expected);
      expect(seen.filter(({ body }) => body.includes('rt-1'))).toHaveLength(1);
      // The refresh token is no longer among what lives on.
      if (outcome.kind === 'unproven') expect(outcome.error.detail).not.toContain('refresh token');
    },
  );

  it('that no server heard of says that the refresh token may outlive the access token', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const { origin } = await serverFor((_, response) =>
      reply(response, 404, 'Not Found', { 'content-type': 'text/plain' }),
    );
    await seedSession(host, sandbox, { record: { authOrigin: origin } });
    const outcome = await logOut(runOf(host, sandbox), false);
    expect(outcome).toMatchObject({ kind: 'unproven', error: { code: 'api_error', status: 404 } });
    expectOutcomeText(outcome);
  });

  it('says so when the refresh token is not revoked', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const { origin } = await serverFor((message, response) =>
      reply(response, message.body.includes('rt-1') ? 503 : 200, {}),
    );
    const record = { authOrigin: origin, accessToken: new Secret('at-1'), refreshToken: new Secret('rt-1') };
    await seedSession(host, sandbox, { record });
    const client = { authOrigin: origin, clientId: 'c', clientSecret: new Secret('shh'), tokenParams: 'body' } as const;
    const outcome = await logOut(
      runOf(host, sandbox, { client: async () => client, settings: settingsOf(sandbox, { token_params: 'body' }) }),
      false,
    );
    expect(outcome).toMatchObject({ kind: 'unproven', error: { code: 'api_error', status: 503 } });
    expectOutcomeText(outcome);
  });

  it.each(['rt-1', 'at-1'])('goes on with the other token when the connection for %s is dropped', async (dropped) => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const { origin, seen } = await serverFor(({ body }, response) =>
      body.includes(dropped) ? void response.destroy() : reply(response, 200, {}),
    );
    const record = { authOrigin: origin, accessToken: new Secret('at-1'), refreshToken: new Secret('rt-1') };
    await seedSession(host, sandbox, { record });
    const client = { authOrigin: origin, clientId: 'c', clientSecret: new Secret('shh'), tokenParams: 'body' } as const;
    const run = runOf(host, sandbox, {
      client: async () => client,
      settings: settingsOf(sandbox, { token_params: 'body' }),
    });
    const outcome = await logOut(run, false, async () => 'accepted');
    expect(outcome).toMatchObject({ kind: 'unproven', error: { code: 'unreachable', exitCode: 6 } });
    expect(seen.map(({ body }) => body.split('&')[0])).toEqual(['token=rt-1', 'token=at-1']);
    expectOutcomeText(outcome);
  });

  it('whose end the resource API did not confirm says no more than that', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    await seedSession(host, sandbox);
    const outcome = await logOut(runOf(host, sandbox), false, async () => 'unknown');
    expect(outcome).toMatchObject({ kind: 'unproven', error: { code: 'api_error' } });
    expectOutcomeText(outcome);
  });

  it('waits for the resource API as long as the command waits for every response', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const silent = await serverFor(() => undefined);
    await seedSession(host, sandbox, { record: { baseOrigin: silent.origin } });
    const outcome = await logOut(runOf(host, sandbox, { timeout: 100 }), false);
    expect(outcome).toMatchObject({ kind: 'unproven', error: { code: 'timeout' } });
    expect(silent.seen.length).toBeGreaterThan(0);
  });

  it('with --local tells nobody', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const { grant, place } = await seedSession(host, sandbox);
    const run = runOf(host, sandbox, {
      send: () => Promise.reject(new Error('sent')),
      requireSafe: () => {
        throw new Error('not needed');
      },
    });
    expect(await logOut(run, true)).toEqual({ kind: 'local' });
    expect(existsSync(place.credentialFile)).toBe(false);
    expect((await callApi(sandbox, grant.access_token, 'GET', '/v2/actions')).status).toBe(200);
  });

  it('of nobody does nothing', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    expect(await logOut(runOf(host, sandbox), false)).toEqual({ kind: 'nothing' });
  });

  it('of a record that is damaged deletes it', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const run = runOf(host, sandbox);
    await run.store.withItems((items) => items.write('credential', new Secret('{')));
    expect(await logOut(run, false)).toEqual({ kind: 'local' });
    expect(await run.store.withItems((items) => items.read('credential'))).toEqual({ kind: 'absent' });
  });

  it('of a keychain that cannot be asked deletes nothing and says so', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const run = runOf(host, sandbox);
    const unavailable = async () => ({ kind: 'unavailable', why: 'locked', reason: '' }) as const;
    const store = {
      ...run.store,
      withItems: <T>(work: Parameters<typeof run.store.withItems<T>>[0]) =>
        work({ read: unavailable, write: unavailable, remove: unavailable }),
    };
    let sent = false;
    const send = async () => {
      sent = true;
      return host.createSender({ env: {} });
    };
    await expect(logOut({ ...run, store, send }, false)).rejects.toMatchObject({
      code: 'keychain_unavailable',
    });
    expect(sent).toBe(false);
    (await run.lock()).release();
  });
});

function expectOutcomeText(outcome: LogoutOutcome): void {
  if (outcome.kind === 'unproven') expectGolden('auth', errorText(outcome.error));
}

it('a resource API that cannot be reached: the error does not call a revoked token valid', async () => {
  const [host, sandbox] = [testHost(), await sandboxFor()];
  await seedSession(host, sandbox);
  const probe: Probe = async () => {
    throw new CliError('unreachable', 'could not reach the resource API');
  };
  const outcome = await logOut(runOf(host, sandbox), false, probe);
  expect(outcome).toMatchObject({ kind: 'unproven', error: { code: 'unreachable', exitCode: 6 } });
  expect(outcome.kind === 'unproven' && outcome.error.message).toContain('was revoked');
});

describe('a logout that cannot be proved has deleted all the same', () => {
  it.each<[string, RequestHandler, object]>([
    ['the server drops the connection', (_, response) => void response.destroy(), { code: 'unreachable', exitCode: 6 }],
    [
      'the server says no',
      (_, response) => reply(response, 400, { error: 'invalid_request' }),
      { code: 'api_error', status: 400 },
    ],
    [
      'the server answers with a page',
      (_, response) => reply(response, 404, '<html>', { 'content-type': 'text/html' }),
      { code: 'api_error' },
    ],
    [
      'the server redirects',
      (_, response) => reply(response, 302, '', { location: '/' }),
      { code: 'api_error', status: 302 },
    ],
    ['the token is still accepted', (_, response) => reply(response, 200, {}), { code: 'api_error' }],
  ])('when %s', async (_what, answerer, expected) => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const { origin } = await serverFor(answerer);
    const { place, grant } = await seedSession(host, sandbox, { record: { authOrigin: origin } });
    const outcome = await logOut(runOf(host, sandbox), false);
    expect(outcome).toMatchObject({ kind: 'unproven', error: expected });
    expect(existsSync(place.credentialFile)).toBe(false);
    const { error } = outcome.kind === 'unproven' ? outcome : { error: undefined };
    expectOutcomeText(outcome);
    expect(JSON.stringify(error)).not.toContain(grant.access_token);
  });

  it('when nobody listens', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const { place } = await seedSession(host, sandbox, { record: { authOrigin: await closedOrigin() } });
    expect(await logOut(runOf(host, sandbox), false)).toMatchObject({
      kind: 'unproven',
      error: { code: 'unreachable', exitCode: 6 },
    });
    expect(existsSync(place.credentialFile)).toBe(false);
  });
});

describe('the revocation of a grant that is not stored', () => {
  const grant = { accessToken: new Secret('at-1'), refreshToken: new Secret('rt-1') };

  function revocationAt(origin: string, tokenParams: 'query' | 'body'): Revocation {
    const host = testHost();
    const client = { authOrigin: origin, clientId: 'c', tokenParams };
    return { client, send: (options) => host.createSender({ env: {}, ...options }) };
  }

  it('at a server that expects a form, the refresh token is revoked as well, and 204 counts as 200', async () => {
    const { origin, seen } = await serverFor((_, response) => reply(response, 204, ''));
    expect(await revokeGrant(revocationAt(origin, 'body'), grant)).toBe(true);
    expect(seen.map(({ body }) => body)).toEqual(['token=rt-1&client_id=c', 'token=at-1&client_id=c']);
  });

  it('at a server that follows docs/service.md, only the access token is revoked, with itself as bearer', async () => {
    const { origin, seen } = await serverFor((_, response) => reply(response, 200, {}));
    expect(await revokeGrant(revocationAt(origin, 'query'), grant)).toBe(true);
    expect(seen.map(({ url, headers }) => [url, headers.authorization])).toEqual([
      ['/v1/oauth/revoke?token=at-1', 'Bearer at-1'],
    ]);
  });

  it('a server that cannot be reached, or refuses, is a failed revocation and no error', async () => {
    expect(await revokeGrant(revocationAt(await closedOrigin(), 'query'), grant)).toBe(false);
    const { origin } = await serverFor((_, response) => reply(response, 400, { error: 'invalid_request' }));
    expect(await revokeGrant(revocationAt(origin, 'query'), grant)).toBe(false);
  });

  it('the error of a grant that is not stored says whether it was revoked', async () => {
    const { origin } = await serverFor((_, response) => reply(response, 200, {}));
    const error = new CliError('scope_mismatch', 'other', { detail: 'a fact' });
    for (const [name, server] of [
      ['revoked', origin],
      ['not revoked', await closedOrigin()],
    ] as const) {
      const thrown: unknown = await revokeAndThrow(revocationAt(server, 'query'), grant, error).catch(
        (caught) => caught,
      );
      expect(thrown).toMatchObject({ code: 'scope_mismatch', message: 'other' });
      expectGolden('errors', thrown instanceof CliError ? `${thrown.detail}` : '', name);
    }
    const bug = new TypeError('bug');
    await expect(revokeAndThrow(revocationAt(origin, 'query'), grant, bug)).rejects.toBe(bug);
  });
});

function stable(text: string, { ready }: SandboxServers): string {
  return text.replaceAll(ready.auth_url, 'http://SERVER');
}
